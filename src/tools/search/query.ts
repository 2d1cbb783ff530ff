import type { IgnoreScope } from "./walk.ts";

export const MAX_LINES = 250;
/** What is shown of one line, around its first match. */
const MAX_COLUMNS = 500;
export const SEARCH_MS = 20_000;

export type Query = {
  pattern: string;
  ignoreCase: boolean;
  multiline: boolean;
  context: number;
  /** What is wanted of each file: its lines, or only their number. */
  wantsLines: boolean;
};
/** What narrows the files by name. `names` are patterns of base names that a type stands for; `glob` is matched with the whole relative path. */
export type Scope = { glob?: string | undefined; names?: readonly string[] | undefined };

export type HitLine = { number: number; text: string; isMatch: boolean };
/** `file` is relative to the folder that is searched. `count` are the lines that match, or the matches where they span lines. */
export type FileHits = { file: string; count: number; lines: HitLine[] };
export type SearchOutcome = {
  hits: FileHits[];
  /** The pattern or something else the search was given is wrong. */
  problem?: string;
  /** Why not everything was looked at. */
  partial?: string;
  isBinary?: boolean;
};

/** The place that is searched: a folder held open, or one file. */
export type Target = { place: string; path: string; file?: string | undefined; ignores: IgnoreScope };

export const OUT_OF_TIME = `stopped after ${SEARCH_MS / 1000} s`;

/** A window around the first match; `start` is its offset in the line. */
export function windowOf(line: string, start: number): string {
  if (line.length <= MAX_COLUMNS) return line;
  const from = Math.max(0, Math.min(start - MAX_COLUMNS / 4, line.length - MAX_COLUMNS));
  const shown = line.slice(from, from + MAX_COLUMNS).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
  const cutAfter = from + MAX_COLUMNS < line.length;
  return `${from > 0 ? "[…] " : ""}${shown}${cutAfter ? " […]" : ""} [line of ${line.length} characters, from ${from + 1}]`;
}
