/** A place in a file's units: `start` inclusive, `end` exclusive; `endings` are the line endings that it holds, in order. */
export type Match = { start: number; end: number; endings: string[] };

/** All places of `needle`, not overlapping. A "\n" in it matches "\r\n" too, so that a text from ReadFile fits a CRLF file. */
export function findMatches(haystack: string, needle: string): Match[] {
  const wanted = needle.replaceAll("\r\n", "\n");
  if (!wanted.includes("\n") || !haystack.includes("\r\n")) return findExact(haystack, wanted);
  const first = wanted.split("\n", 1)[0] ?? "";
  const matches: Match[] = [];
  let from = 0;
  while (from <= haystack.length) {
    const start = first === "" ? nextLineEnd(haystack, from) : haystack.indexOf(first, from);
    if (start < 0) break;
    const match = matchAt(haystack, wanted, start);
    if (match) {
      matches.push(match);
      from = match.end;
    } else from = start + 1;
  }
  return matches;
}

function findExact(haystack: string, needle: string): Match[] {
  const endings = Array.from({ length: needle.split("\n").length - 1 }, () => "\n");
  const matches: Match[] = [];
  for (let start = haystack.indexOf(needle); start >= 0; start = haystack.indexOf(needle, start + needle.length))
    matches.push({ start, end: start + needle.length, endings });
  return matches;
}

function nextLineEnd(text: string, from: number): number {
  const newline = text.indexOf("\n", from);
  if (newline < 0) return -1;
  return newline > from && text[newline - 1] === "\r" ? newline - 1 : newline;
}

function matchAt(haystack: string, needle: string, start: number): Match | undefined {
  const endings: string[] = [];
  let at = start;
  for (let index = 0; index < needle.length; index++) {
    const character = needle[index];
    if (character === "\n" && haystack[at] === "\r" && haystack[at + 1] === "\n") {
      endings.push("\r\n");
      at += 2;
      continue;
    }
    if (haystack[at] !== character) return undefined;
    if (character === "\n") endings.push("\n");
    at += 1;
  }
  return { start, end: at, endings };
}

/**
 * `replacement` with line endings of the place it goes to: the ending that the same line had, then the last one that the match
 * held, then that of the line the match stands on.
 */
export function withEndings(haystack: string, match: Match, replacement: string): string {
  if (!replacement.includes("\n")) return replacement;
  const fallback = match.endings.at(-1) ?? endingAround(haystack, match);
  let line = 0;
  return replacement.replaceAll(/\r?\n/g, () => match.endings[line++] ?? fallback);
}

function endingAround(text: string, match: Match): string {
  const next = text.indexOf("\n", match.end);
  const newline = next >= 0 ? next : text.lastIndexOf("\n", match.start);
  return newline > 0 && text[newline - 1] === "\r" ? "\r\n" : "\n";
}

/** From 1. */
export function lineNumber(text: string, at: number): number {
  let line = 1;
  for (let newline = text.indexOf("\n"); newline >= 0 && newline < at; newline = text.indexOf("\n", newline + 1)) line++;
  return line;
}
