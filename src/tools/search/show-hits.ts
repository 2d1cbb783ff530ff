import type { FileHits, HitLine } from "./query.ts";

const MAX_CHARACTERS = 25_000;

export type Showing = { output: "lines" | "files" | "count"; limit: number; context: number; left: number; partial: string | undefined };

/** The hits as the model reads them, no more than the limit, with what there is in all. */
export function showHits(hits: readonly FileHits[], showing: Showing): string {
  const notes: string[] = [];
  const matches = hits.reduce((sum, { count }) => sum + count, 0);
  const entries =
    showing.output === "lines" ? hits.flatMap((one) => lineEntries(one, showing.context)) : hits.map((one) => asEntry(one, showing));
  const shown = upTo(entries, showing.limit);
  const hidden = showing.output === "lines" ? matches - shown.filter((one) => one.isMatch).length : entries.length - shown.length;
  if (hidden > 0) {
    const total =
      showing.output === "lines" ? `${matches} matches in ${hits.length} files` : `${hits.length} files with ${matches} matches`;
    const seen = showing.output === "lines" ? `the first ${shown.filter((one) => one.isMatch).length}` : `the first ${shown.length}`;
    notes.push(`${total}; ${seen} shown: narrow the pattern, the path or the glob`);
  }
  if (showing.left > 0) notes.push(`${showing.left} files are left out: reading them is denied, or needs a person's word`);
  if (showing.partial !== undefined) notes.push(`not all was searched: ${showing.partial}`);
  const text = shown.length === 0 ? "No matches." : shown.map((one) => one.text).join("\n");
  return notes.length > 0 ? `${text}\n[${notes.join("; ")}]` : text;
}

type Entry = { text: string; isMatch: boolean };

function asEntry({ file, count }: FileHits, { output }: Showing): Entry {
  return { text: output === "files" ? file : `${file}:${count}`, isMatch: true };
}

/** With context, parts that do not touch are set apart as grep does it. */
function lineEntries({ file, lines }: FileHits, context: number): Entry[] {
  const sorted = [...lines].sort((a, b) => a.number - b.number);
  return sorted.flatMap((line, index) => {
    const before = sorted[index - 1];
    const isApart = context > 0 && before !== undefined && line.number > before.number + 1;
    const own = { text: asLine(file, line), isMatch: line.isMatch };
    return isApart ? [{ text: "--", isMatch: false }, own] : [own];
  });
}

function asLine(file: string, { number, text, isMatch }: HitLine): string {
  const mark = isMatch ? ":" : "-";
  return `${file}${mark}${number}${mark}${text}`;
}

function upTo(entries: readonly Entry[], limit: number): Entry[] {
  const shown: Entry[] = [];
  let characters = 0;
  for (const entry of entries.slice(0, limit)) {
    characters += entry.text.length + 1;
    if (characters > MAX_CHARACTERS) break;
    shown.push(entry);
  }
  return shown;
}
