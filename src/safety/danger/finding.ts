import type { Line, Part, Word } from "../command-line.ts";
import { components, type Ground, normalize, resolvePhysically } from "../path-sandbox.ts";
import { matchesName } from "../patterns.ts";

/** What a detector says about one part: a hard deny, or a sticky ask that a person may answer. */
export type Finding = { decision: "deny" | "ask"; isSticky: boolean; layer: "danger" | "path"; reason: string };
/** `writers`: the parts of the line that write this file, as far as is known. */
export type Scene = { line: Line; ground: Ground; mode: string; writers(path: string): readonly Part[] };
export type Detector = (part: Part, scene: Scene) => readonly Finding[];

export function deny(reason: string, layer: "danger" | "path" = "danger"): Finding {
  return { decision: "deny", isSticky: false, layer, reason };
}

export function stickyAsk(reason: string, layer: "danger" | "path" = "danger"): Finding {
  return { decision: "ask", isSticky: true, layer, reason };
}

/** Names that a glob may stand for and that decide something. */
const SPECIAL_NAMES = [
  ...[".git", ".roocode", ".mcp.json", "config.yaml", "config.local.yaml", "agents", "skills", "commands", "hooks", "config"],
  ...[
    ".env",
    ".ssh",
    ".aws",
    "credentials",
    ".gnupg",
    ".netrc",
    ".kube",
    ".docker",
    "config.json",
    "id_rsa",
    "id_ed25519",
    ".bashrc",
    ".zshrc",
    ".profile",
    ".gitconfig",
  ],
];

const MOST_PATHS = 64;

/** The absolute paths that a word may mean, globs also with the special names they match; undefined when that can't be known. */
export function pathsOf(word: Word, part: Part, ground: Ground): string[] | undefined {
  if (!word.isKnown || (part.cwds.length === 0 && !word.text.startsWith("/"))) return undefined;
  const absolutes = word.text.startsWith("/") ? [word.text] : part.cwds.map((cwd) => `${cwd}/${word.text}`);
  const all = word.hasGlob ? absolutes.flatMap(withSpecialNames) : absolutes;
  return [...new Set(all.flatMap((path) => [path, real(path, ground)]))];
}

function real(path: string, ground: Ground): string {
  return resolvePhysically(path, ground.files) ?? normalize(path);
}

function withSpecialNames(path: string): string[] {
  let paths: string[][] = [[]];
  for (const name of components(path)) {
    const isHidden = name.startsWith(".");
    const isGlob = /[*?[]/.test(name);
    paths = paths
      .flatMap((before) => {
        // Names without a dot are special in a folder with one only.
        const mayBeSpecial = isGlob && (isHidden || before.at(-1)?.startsWith(".") === true);
        const names = mayBeSpecial ? SPECIAL_NAMES.filter((each) => each.startsWith(".") === isHidden && matchesName(name, each)) : [];
        return [name, ...names].map((each) => [...before, each]);
      })
      .slice(0, MOST_PATHS);
  }
  return paths.map((names) => `/${names.join("/")}`);
}
