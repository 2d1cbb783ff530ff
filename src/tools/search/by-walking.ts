import { join } from "node:path";
import { isErrno } from "../../platform/files.ts";
import { MovedPathError, openChecked } from "../../platform/open-checked.ts";
import { MAX_EDIT_BYTES } from "../existing-file.ts";
import { nameFilter } from "./name-filter.ts";
import {
  type FileHits,
  MAX_LINES,
  OUT_OF_TIME,
  type Query,
  type Scope,
  SEARCH_MS,
  type SearchOutcome,
  type Target,
  windowOf,
} from "./query.ts";
import { toExpression } from "./rust-pattern.ts";
import { underClock } from "./under-clock.ts";
import { walkFiles } from "./walk.ts";

/** The same search without ripgrep: slower, and with the language's own regular expressions. */
export async function searchByWalking(query: Query, scope: Scope, target: Target, signal: AbortSignal): Promise<SearchOutcome> {
  const expression = toExpression(query);
  if (typeof expression === "string") return { hits: [], problem: expression };
  const stop = Date.now() + SEARCH_MS;
  const clock = underClock(SEARCH_MS);
  const files = target.file === undefined ? (await listByWalking(scope, target, signal)).files : [target.file];
  const hits: FileHits[] = [];
  let lines = 0;
  let skipped = 0;
  for (const file of files) {
    if (signal.aborted) break;
    if (Date.now() > stop) return { hits, partial: OUT_OF_TIME };
    const text = await textOf(target.file === undefined ? join(target.place, file) : target.place);
    if (text === "large") skipped++;
    if (text === "binary" && target.file !== undefined) return { hits, isBinary: true };
    if (typeof text === "string") continue;
    const found = clock(() => hitsIn(text.content, expression, query, lines < MAX_LINES * 40));
    if (found === undefined) return { hits, partial: OUT_OF_TIME };
    lines += found.lines.length;
    if (found.count > 0) hits.push({ file, ...found });
  }
  return { hits, ...(skipped > 0 ? { partial: `${skipped} files over ${MAX_EDIT_BYTES} bytes were not looked at` } : {}) };
}

export async function listByWalking({ names }: Scope, target: Target, signal: AbortSignal): Promise<{ files: string[]; partial?: string }> {
  const stop = Date.now() + SEARCH_MS;
  const files: string[] = [];
  let partial: string | undefined;
  for await (const file of walkFiles(target.place, target.ignores, signal)) {
    files.push(file);
    if (Date.now() <= stop) continue;
    partial = OUT_OF_TIME;
    break;
  }
  files.sort();
  const wanted = names ? await ofTypes(files, names) : files;
  return { files: wanted, ...(partial ? { partial } : {}) };
}

async function ofTypes(files: readonly string[], names: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const name of names) {
    const matches = (await nameFilter(name, true))(files) ?? [];
    for (const [index, file] of files.entries()) if (matches[index]) found.add(file);
  }
  return files.filter((file) => found.has(file));
}

async function textOf(path: string): Promise<{ content: string } | "binary" | "large" | "gone"> {
  try {
    await using file = await openChecked(path);
    const { size } = await file.stat();
    if (size > MAX_EDIT_BYTES) return "large";
    const bytes = await file.readFile();
    if (bytes[0] === 0xff && bytes[1] === 0xfe) return { content: new TextDecoder("utf-16le").decode(bytes) };
    if (bytes[0] === 0xfe && bytes[1] === 0xff) return { content: new TextDecoder("utf-16be").decode(bytes) };
    return bytes.includes(0) ? "binary" : { content: new TextDecoder("utf-8").decode(bytes) };
  } catch (error) {
    // Like ripgrep: what went away or can't be opened is passed over.
    if (error instanceof MovedPathError || isErrno(error, "ENOENT", "ENOTDIR", "EACCES", "EPERM", "ENXIO")) return "gone";
    throw error;
  }
}

function hitsIn(text: string, expression: RegExp, query: Query, wantsLines: boolean): Omit<FileHits, "file"> {
  const lines = text.replace(/\n$/, "").split("\n");
  const hits = query.multiline ? hitsAcross(text, expression) : hitsByLine(lines, expression);
  const count = query.multiline ? hits.matches : hits.starts.size;
  if (!query.wantsLines || !wantsLines || count === 0) return { count, lines: [] };
  const numbers = new Set<number>();
  for (const hit of hits.starts.keys())
    for (let line = hit - query.context; line <= hit + query.context; line++) if (line >= 0 && line < lines.length) numbers.add(line);
  const shown = [...numbers].sort((a, b) => a - b).slice(0, MAX_LINES * 4);
  return {
    count,
    lines: shown.map((index) => ({
      number: index + 1,
      text: windowOf((lines[index] ?? "").replace(/\r$/, ""), hits.starts.get(index) ?? 0),
      isMatch: hits.starts.has(index),
    })),
  };
}

/** Lines that match, with the offset of their first match. */
type Hits = { starts: Map<number, number>; matches: number };

function hitsByLine(lines: readonly string[], expression: RegExp): Hits {
  const starts = new Map<number, number>();
  for (const [index, line] of lines.entries()) {
    const match = expression.exec(line.endsWith("\r") ? line.slice(0, -1) : line);
    if (match) starts.set(index, match.index);
  }
  return { starts, matches: starts.size };
}

function hitsAcross(text: string, expression: RegExp): Hits {
  const starts = new Map<number, number>();
  let matches = 0;
  let line = 0;
  let lineStart = 0;
  for (const match of text.matchAll(expression)) {
    // Behind the last line end there is no line.
    if (match.index === text.length && text.endsWith("\n")) break;
    matches++;
    for (let end = text.indexOf("\n", lineStart); end >= 0 && end < match.index; end = text.indexOf("\n", lineStart)) {
      line++;
      lineStart = end + 1;
    }
    if (!starts.has(line)) starts.set(line, match.index - lineStart);
    const spanned = match[0].replace(/\n$/, "").split("\n").length - 1;
    for (let next = 1; next <= spanned; next++) if (!starts.has(line + next)) starts.set(line + next, 0);
  }
  return { starts, matches };
}
