import { knownWord, type Part, type Word } from "./command-line.ts";
import { normalize } from "./path-sandbox.ts";
import { unknownWord } from "./word-pieces.ts";

/** What a command line knows at one place; `Body` is the parser's node of a function. */
export type Scope<Body> = {
  variables: Map<string, Word>;
  functions: Map<string, Body>;
  cwds: readonly string[];
  before: readonly Part[];
  outer: Part | undefined;
  stdin: string | undefined;
  isBackground: boolean;
};

type Snapshot = { variables: Map<string, Word>; cwds: readonly string[] };

export function fork<Body>(scope: Scope<Body>): Scope<Body> {
  return { ...scope, variables: new Map(scope.variables), functions: new Map(scope.functions) };
}

export function inner<Body>(scope: Scope<Body>, part: Part): Scope<Body> {
  return { ...scope, outer: part, before: part.before };
}

export function snapshot<Body>(scope: Scope<Body>): Snapshot {
  return { variables: new Map(scope.variables), cwds: scope.cwds };
}

/** After something that may not have run: both folders are possible, and a variable that changed is not known. */
export function settle<Body>(scope: Scope<Body>, start: Snapshot): void {
  scope.cwds = scope.cwds.length === 0 || start.cwds.length === 0 ? [] : [...new Set([...start.cwds, ...scope.cwds])];
  for (const [name, value] of scope.variables) {
    const old = start.variables.get(name);
    if (old?.text !== value.text || old.isKnown !== value.isKnown) scope.variables.set(name, { ...value, isKnown: false });
  }
}

/** The arguments of a script or a function. */
export const POSITIONS = ["@", "*", "1", "2", "3", "4", "5", "6", "7", "8", "9"] as const;

export function forgetPositions(variables: Map<string, Word>): void {
  for (const position of POSITIONS) variables.set(position, unknownWord(`$${position}`));
}

export function setPositions(variables: Map<string, Word>, words: readonly Word[]): void {
  for (let index = 1; index <= 9; index++) variables.set(String(index), words[index - 1] ?? knownWord(""));
  const all = words.every((word) => word.isKnown) ? knownWord(words.map((word) => word.text).join(" ")) : unknownWord("$@");
  for (const name of ["@", "*"]) variables.set(name, { ...all, runs: words.flatMap((word) => word.runs) });
}

export function resolveFolders(target: Word, cwds: readonly string[]): string[] {
  if (!target.isKnown || target.hasGlob) return [];
  if (target.text.startsWith("/")) return [normalize(target.text)];
  return cwds.map((cwd) => normalize(`${cwd}/${target.text}`));
}
