import { basename } from "node:path";

/** One field of a command after quotes, braces, constants and tildes were worked out. What can't be known stands as its source text. */
export type Word = {
  text: string;
  isKnown: boolean;
  /** Has an unquoted `*`, `?` or `[`. */
  hasGlob: boolean;
  /** Expanding it may run code: indirection, prompt expansion, arithmetic on what is not a number. */
  isUnsafe: boolean;
  isQuoted: boolean;
  /** Stands for something below this folder (what `find` hands over). */
  isBelow?: boolean;
  /** The commands whose output it holds. */
  runs: readonly Part[];
};

export type Redirect = { use: "read" | "write"; target: Word; isCopy: boolean; descriptor: number | undefined };
export type Assignment = { name: string; value: Word };

/** One simple command of a line, wherever it stands in it. */
export type Part = {
  words: readonly Word[];
  assignments: readonly Assignment[];
  redirects: readonly Redirect[];
  /** The folders it may run in; empty when that is not known. */
  cwds: readonly string[];
  /** What feeds it and what it feeds, in its pipelines. */
  before: readonly Part[];
  after: readonly Part[];
  /** Known text on its standard input. */
  stdin: string | undefined;
  /** What this command runs in turn. A transparent wrapper counts as what it wraps, a script as its parts. */
  opened: { how: "transparent" | "opaque" | "script"; parts: readonly Part[] } | undefined;
  /** The wrapper or script that this part was found in. */
  outer: Part | undefined;
  /** Calls a function of the same line, whose body is walked as well. */
  isCall: boolean;
  /** Hands a text that is not known to something that runs it. */
  runsUnknown: boolean;
  isBackground: boolean;
};

export type Line = {
  text: string;
  parts: readonly Part[];
  /** Why the text can't be taken at face value. */
  problems: readonly string[];
  isOverLimit: boolean;
  /** Functions that start themselves again in a pipe or in the background. */
  bombs: readonly string[];
};

export const NOTHING: Word = { text: "", isKnown: true, hasGlob: false, isUnsafe: false, isQuoted: true, runs: [] };

export function knownWord(text: string): Word {
  return { ...NOTHING, text };
}

/** The program's own name, without its folder; "" when it has none or it is not known. */
export function programOf(part: Part): string {
  const first = part.words[0];
  return first?.isKnown ? basename(first.text) : "";
}

export function textOf(words: readonly Word[]): string {
  return words
    .map((word) => word.text)
    .join(" ")
    .replace(/\s+/g, " ")
    .trim();
}

export function argsOf(part: Part): readonly Word[] {
  return part.words.slice(1);
}

export type Options = { flags: Set<string>; values: Map<string, Word[]>; operands: Word[] };

/**
 * Options as getopt reads them: short ones bundled, operands anywhere, `--` ends them. `taking` names the options that have a
 * value (`o`, `output`); a long one is also found by a beginning of its name.
 */
export function parseOptions(args: readonly Word[], taking: readonly string[] = [], stopAtOperand = false): Options {
  const flags = new Set<string>();
  const values = new Map<string, Word[]>();
  const operands: Word[] = [];
  const put = (name: string, word: Word | undefined) => {
    flags.add(name);
    if (word) values.set(name, [...(values.get(name) ?? []), word]);
  };
  for (let index = 0; index < args.length; index++) {
    const word = args[index];
    if (!word) break;
    const { text } = word;
    if (text === "--") {
      operands.push(...args.slice(index + 1));
      break;
    }
    if (text.startsWith("--") && text.length > 2) {
      const equals = text.indexOf("=");
      const name = equals < 0 ? text.slice(2) : text.slice(2, equals);
      if (equals >= 0) put(name, { ...word, text: text.slice(equals + 1) });
      else if (taking.includes(name)) put(name, args[++index]);
      else put(name, undefined);
      continue;
    }
    if (text.startsWith("-") && text.length > 1 && (word.isKnown || /^-\w/.test(text))) {
      index = readShort(word, args, index, taking, put);
      continue;
    }
    operands.push(word);
    if (stopAtOperand) {
      operands.push(...args.slice(index + 1));
      break;
    }
  }
  return { flags, values, operands };
}

function readShort(
  word: Word,
  args: readonly Word[],
  index: number,
  taking: readonly string[],
  put: (name: string, word: Word | undefined) => void,
): number {
  const letters = word.text.slice(1);
  if (taking.includes(letters) && letters.length > 1) {
    put(letters, args[index + 1]);
    return index + 1;
  }
  for (let at = 0; at < letters.length; at++) {
    const letter = letters.charAt(at);
    if (!taking.includes(letter)) {
      put(letter, undefined);
      continue;
    }
    const rest = letters.slice(at + 1);
    if (rest !== "") {
      put(letter, { ...word, text: rest });
      return index;
    }
    put(letter, args[index + 1]);
    return index + 1;
  }
  return index;
}

/** Whether a long option was given, whole or by a beginning that getopt would accept. */
export function hasLong(options: Options, name: string, shortest = 3): boolean {
  return [...options.flags].some((flag) => flag.length >= Math.min(shortest, name.length) && name.startsWith(flag) && flag.length > 1);
}
