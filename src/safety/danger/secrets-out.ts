import { argsOf, type Part, programOf } from "../command-line.ts";
import { judgePath } from "../path-sandbox.ts";
import { touchesOf } from "../touches.ts";
import { type Detector, deny, pathsOf, type Scene } from "./finding.ts";
import { isSender } from "./programs.ts";
import { runsOf } from "./remote.ts";

/** A secret, or the whole environment, into a program that talks to the network, in one command line. */
export const secretsOut: Detector = (part, scene) => {
  if (!isSender(part)) return [];
  const sources = [...part.before, ...runsOf(part), ...part.redirects.flatMap((redirect) => redirect.target.runs)];
  const secret = [part, ...closure(sources)].map((each) => secretOf(each, scene)).find((each) => each !== undefined);
  if (secret) return [deny(`it sends ${secret} to the network with "${programOf(part)}"`)];
  const carried = carriedSecret(part, scene);
  return carried ? [deny(`it sends ${carried} to the network with "${programOf(part)}"`)] : [];
};

function closure(parts: readonly Part[]): Part[] {
  const all = new Set<Part>();
  const waiting = [...parts];
  for (let part = waiting.pop(); part; part = waiting.pop()) {
    if (all.has(part)) continue;
    all.add(part);
    waiting.push(...part.before, ...runsOf(part), ...(part.opened?.parts ?? []));
  }
  return [...all];
}

function secretOf(part: Part, scene: Scene): string | undefined {
  if (dumpsEnvironment(part)) return "the environment";
  for (const word of touchesOf(part).reads) {
    const found = (pathsOf(word, part, scene.ground) ?? []).find((path) => isSecret(path, scene));
    if (found) return `the secret "${found}"`;
  }
  return undefined;
}

function isSecret(path: string, scene: Scene): boolean {
  return judgePath(path, "read", scene.ground, false).isSecret;
}

/** A secret that another part of the line put into a file which this one sends. */
function carriedSecret(part: Part, scene: Scene): string | undefined {
  const sent = touchesOf(part).reads.flatMap((word) => pathsOf(word, part, scene.ground) ?? []);
  for (const other of sent.flatMap((path) => scene.writers(path))) {
    if (other === part) continue;
    const secret = [other, ...closure([...other.before, ...runsOf(other)])]
      .map((each) => secretOf(each, scene))
      .find((each) => each !== undefined);
    if (secret) return secret;
  }
  return undefined;
}

function dumpsEnvironment(part: Part): boolean {
  const name = programOf(part);
  const args = argsOf(part).map((word) => word.text);
  if (name === "printenv") return true;
  if (name === "env") return part.opened === undefined && args.every((text) => text.startsWith("-") || text.includes("="));
  if (name === "set") return args.length === 0;
  if (name === "export" || name === "declare" || name === "typeset")
    return args.length === 0 || args.every((text) => /^-[pxa]+$/.test(text));
  if (name === "compgen") return args.includes("-v") || args.includes("-e");
  return name === "cat" && args.some((text) => /^\/proc\/(self|\d+|\$\$)\/environ$/.test(text));
}
