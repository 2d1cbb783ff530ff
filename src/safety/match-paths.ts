import ignore, { type Ignore } from "ignore";
import { below, components, type Ground, isWithin, normalize, real, resolvePhysically, toAbsolute } from "./path-sandbox.ts";
import { matchesComponents } from "./patterns.ts";

/** A path as a rule sees it: as given and where it leads. */
export type RulePath = { given: string; resolved: string };

export function rulePath(given: string, ground: Ground): RulePath {
  const absolute = toAbsolute(given, ground);
  return { given: normalize(absolute), resolved: resolvePhysically(absolute, ground.files) ?? normalize(absolute) };
}

/** A deny or an ask: either spelling suffices, case does not matter, a matched folder covers what is in it. */
export function pathIsCovered(spec: string, path: RulePath, ground: Ground): boolean {
  const pattern = anchor(spec, ground);
  return [path.given, path.resolved].some((candidate) => {
    const relative = relativeTo(candidate, pattern, ground);
    if (relative === undefined || relative.length === 0) return false;
    return ignoring(pattern.text).ignores(relative.join("/"));
  });
}

const MOST_PATTERNS = 500;
const PATTERNS = new Map<string, Ignore>();

function ignoring(pattern: string): Ignore {
  const known = PATTERNS.get(pattern) ?? ignore({ ignorecase: true }).add(escapeLine(pattern));
  if (PATTERNS.size >= MOST_PATTERNS) PATTERNS.clear();
  PATTERNS.set(pattern, known);
  return known;
}

/** An allow: the place where the path leads, exactly; a folder's name does not cover its content. */
export function pathIsAllowed(spec: string, path: RulePath, ground: Ground): boolean {
  const pattern = anchor(spec, ground);
  const relative = relativeTo(path.resolved, pattern, ground);
  if (relative === undefined) return false;
  const text = pattern.text.endsWith("/") ? `${pattern.text}**` : pattern.text;
  const isAnchored = text.replace(/\/$/, "").includes("/");
  const parts = components(text);
  return matchesComponents(isAnchored ? parts : ["**", ...parts], relative);
}

type Anchored = { base: string | undefined; text: string };

/** `~/` is the home, `//` the file system, all else the project root. */
function anchor(spec: string, ground: Ground): Anchored {
  if (spec === "~" || spec.startsWith("~/")) return { base: ground.home, text: `/${spec.slice(2)}` };
  if (spec.startsWith("//")) return { base: "/", text: `/${spec.slice(2)}` };
  return { base: undefined, text: spec.startsWith("./") ? spec.slice(1) : spec };
}

function relativeTo(path: string, pattern: Anchored, ground: Ground): string[] | undefined {
  const base = pattern.base ?? ground.root;
  const inside = below(path, base, ground);
  if (inside) return inside;
  // A name without a slash counts at any depth, in an added folder too.
  if (pattern.base === undefined && !pattern.text.replace(/\/$/, "").includes("/")) return components(path);
  return pattern.base === "/" || isWithin(path, real(base, ground)) ? components(path) : undefined;
}

/** `!` and `#` mean something else at the start of a gitignore line. */
function escapeLine(text: string): string {
  return /^[!#]/.test(text) ? `\\${text}` : text;
}
