import type { CommandNode, CompoundList, ParsedScript } from "unbash";
import type { Assignment, Part, Redirect, Word } from "../command-line.ts";
import type { Scope as ScopeOf } from "../scope.ts";
import { unknownWord } from "../word-pieces.ts";

/** Over these the answer is a sticky ask; the analysis itself goes on until the hard ones. */
export const LIMITS = { text: 64 * 1024, parts: 1_000, depth: 100 };
export const HARD_LIMITS = { text: 1024 * 1024, parts: 20_000 };

export class LimitReached extends Error {}

export type FunctionBody = CommandNode | CompoundList;
export type Scope = ScopeOf<FunctionBody>;

export type Found = {
  words: readonly Word[];
  assignments: readonly Assignment[];
  redirects?: readonly Redirect[];
  stdin?: string | undefined;
};

/** A word holds commands and a command holds words: this is the way back up. */
export type Door = {
  script(walk: Walk, script: ParsedScript, scope: Scope): void;
  command(walk: Walk, node: FunctionBody, scope: Scope): void;
};

/** What one line is made of, while it is being read. */
export class Walk {
  readonly parts: Part[] = [];
  readonly problems: string[] = [];
  readonly bombs: string[] = [];
  /** Functions whose body is being walked. */
  readonly calling = new Set<string>();
  /** By path: known text that a part of the line writes there. */
  readonly writtenTexts = new Map<string, string>();
  readonly home: string;
  readonly door: Door;
  deepest = 0;
  #depth = 0;

  constructor(home: string, door: Door) {
    this.home = home;
    this.door = door;
  }

  deeper<Result>(step: () => Result): Result {
    this.#depth++;
    this.deepest = Math.max(this.deepest, this.#depth);
    if (this.#depth > LIMITS.depth * 4) throw new LimitReached();
    try {
      return step();
    } finally {
      this.#depth--;
    }
  }

  open(part: Part, how: "transparent" | "opaque" | "script", walk: () => void): void {
    const start = this.parts.length;
    walk();
    part.opened = { how, parts: this.parts.slice(start).filter((each) => each.outer === part) };
  }

  add(found: Partial<Found>, scope: Scope, unsafe?: string): Part {
    if (this.parts.length >= HARD_LIMITS.parts) throw new LimitReached();
    const part: Part = {
      words: unsafe ? [{ ...unknownWord(unsafe), isUnsafe: true }] : (found.words ?? []),
      assignments: found.assignments ?? [],
      redirects: found.redirects ?? [],
      cwds: scope.cwds,
      before: scope.before,
      after: [],
      stdin: found.stdin,
      opened: undefined,
      outer: scope.outer,
      isCall: unsafe !== undefined,
      runsUnknown: false,
      isBackground: scope.isBackground,
    };
    this.parts.push(part);
    return part;
  }
}
