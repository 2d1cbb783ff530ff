import { isSimpleName } from "./name-filter.ts";
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
import { runRipgrep } from "./ripgrep.ts";

/** Only what the walker of our own knows too, so that both find the same. */
const ALIKE = ["--hidden", "--no-ignore-global", "--no-ignore-dot", "--no-messages", "--glob", "!.git"];
/** Kept before lines that can't be shown any more are dropped. */
const MAX_KEPT = 20_000;

type Text = { text?: string; bytes?: string };
/** What ripgrep prints with --json, as far as it is used. */
type Event =
  | { type: "match"; data: { path: Text; lines: Text; line_number: number; submatches: { start: number }[] } }
  | { type: "context"; data: { path: Text; lines: Text; line_number: number } }
  | { type: "end"; data: { path: Text; binary_offset: number | null } }
  | { type: "begin" }
  | { type: "summary" };

export async function searchByRipgrep(rg: string, query: Query, scope: Scope, target: Target, signal: AbortSignal): Promise<SearchOutcome> {
  const wantsEvents = query.wantsLines || target.file !== undefined;
  const found = new Map<string, FileHits>();
  const binary = new Set<string>();
  let kept = 0;
  const onEvent = (line: string) => {
    // The program's own output, in a form that its manual fixes.
    const event = JSON.parse(line) as Event;
    if (event.type === "begin" || event.type === "summary") return;
    const file = nameOf(decoded(event.data.path), target);
    if (event.type === "end") {
      if (event.data.binary_offset !== null) binary.add(file);
      return;
    }
    const hits = found.get(file) ?? { file, count: 0, lines: [] };
    found.set(file, hits);
    if (event.type === "match") hits.count += query.multiline ? event.data.submatches.length : 1;
    if (hits.lines.length > MAX_LINES * 4 || !query.wantsLines) return;
    kept += addLines(hits, event);
    if (kept > MAX_KEPT) kept = dropTail(found);
  };
  let counted = "";
  const onCount = (part: string) => {
    // `path NUL count LF path NUL count LF …`
    const newline = part.indexOf("\n");
    if (counted !== "" && newline > 0) found.set(counted, { file: counted, count: Number(part.slice(0, newline)), lines: [] });
    counted = nameOf(part.slice(newline + 1), target);
  };
  const args = [...ALIKE, ...scopeArgs(scope), ...queryArgs(query), ...ignoreArgs(target)];
  args.push(...(wantsEvents ? ["--json"] : ["--null", query.multiline ? "--count-matches" : "--count"]));
  args.push("--regexp", query.pattern, "--", target.file === undefined ? "." : target.path);
  const end = await runRipgrep({
    file: rg,
    args,
    cwd: target.file === undefined ? target.path : "/",
    timeoutMs: SEARCH_MS,
    signal,
    onPart: wantsEvents ? onEvent : onCount,
    ...(wantsEvents ? {} : { separator: "\0" }),
  });
  for (const file of binary) found.delete(file);
  // Messages about single files are off, so what stands there is about the call.
  if (end.exitCode === 2 && end.stderr.trim() !== "") return { hits: [], problem: end.stderr.trim().slice(0, 1_000) };
  return {
    hits: [...found.values()],
    ...(end.isTimedOut ? { partial: OUT_OF_TIME } : {}),
    ...(binary.size > 0 && target.file !== undefined ? { isBinary: true } : {}),
  };
}

/** All files that no ignore file names; narrowed by name where that loses none. */
export async function listByRipgrep(
  rg: string,
  scope: Scope,
  target: Target,
  signal: AbortSignal,
): Promise<{ files: string[]; partial?: string }> {
  const files: string[] = [];
  const args = [...ALIKE, ...scopeArgs(scope), ...ignoreArgs(target), "--files", "--null"];
  const onPart = (name: string) => void files.push(name.replace(/^\.\//, ""));
  const end = await runRipgrep({ file: rg, args, cwd: target.path, timeoutMs: SEARCH_MS, signal, onPart, separator: "\0" });
  return { files, ...(end.isTimedOut ? { partial: OUT_OF_TIME } : {}) };
}

function ignoreArgs({ ignores }: Target): string[] {
  return [...(ignores.isRepository ? [] : ["--no-require-git"]), ...(ignores.takesParents ? [] : ["--no-ignore-parent"])];
}

function queryArgs(query: Query): string[] {
  const args = ["--crlf", "--engine=auto", "--color=never"];
  if (query.ignoreCase) args.push("--ignore-case");
  if (query.multiline) args.push("--multiline", "--multiline-dotall");
  if (query.context > 0) args.push(`--context=${query.context}`);
  return args;
}

/** As a type, since a glob of ripgrep's would overrule the ignore files. It sees base names only; the exact match comes after. */
function scopeArgs({ glob, names }: Scope): string[] {
  const last = glob?.split("/").at(-1);
  const coarse = names ?? (last !== undefined && isSimpleName(last) ? [last] : []);
  return coarse.length === 0 ? [] : [...coarse.flatMap((name) => ["--type-add", `roocode:${name}`]), "--type", "roocode"];
}

function addLines(hits: FileHits, event: Extract<Event, { type: "match" | "context" }>): number {
  const text = decoded(event.data.lines);
  const start = event.type === "match" ? characterOffset(text, event.data.submatches[0]?.start ?? 0) : 0;
  const lines = text.replace(/\r?\n$/, "").split("\n");
  for (const [index, line] of lines.entries())
    hits.lines.push({
      number: event.data.line_number + index,
      text: windowOf(line.replace(/\r$/, ""), index === 0 ? start : 0),
      isMatch: event.type === "match",
    });
  return lines.length;
}

/** Of the files that come last by name the lines go, their count stays: they would not be shown. */
function dropTail(found: ReadonlyMap<string, FileHits>): number {
  let kept = 0;
  for (const hits of [...found.values()].sort((a, b) => (a.file < b.file ? -1 : 1))) {
    if (kept > MAX_KEPT / 2) hits.lines = [];
    kept += hits.lines.length;
  }
  return kept;
}

function characterOffset(text: string, bytes: number): number {
  return /^[\x00-\x7f]*$/.test(text) ? bytes : Buffer.from(text).subarray(0, bytes).toString("utf8").length;
}

function nameOf(path: string, { file }: Target): string {
  return file ?? path.replace(/^\.\//, "");
}

function decoded({ text, bytes }: Text): string {
  return text ?? Buffer.from(bytes ?? "", "base64").toString("utf8");
}
