const INCLUDE = /^ {0,3}@include[ \t]+(\S.*?)[ \t]*$/;
/** Behind marks of lists and quotes, however deep: a fence there opens a code block too. */
const FENCE = /^[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]*)*(`{3,}(?=[^`]*$)|~{3,})(.*)$/;

/**
 * The text with each `@include ./path.md` line replaced by what `include` gives; lines in fenced or indented code, in a code span
 * over several lines and in HTML comments stay as they are.
 */
export async function replaceIncludes(text: string, include: (target: string, line: number) => Promise<string>): Promise<string> {
  const lines = text.split("\n");
  const hidden = spans(text);
  const done: string[] = [];
  let fence = "";
  let offset = 0;
  for (const [index, raw] of lines.entries()) {
    const at = offset;
    offset += raw.length + 1;
    const line = raw.replace(/\r$/, "");
    const [, marks = "", rest = ""] = FENCE.exec(line) ?? [];
    if (fence !== "") {
      if (marks.startsWith(fence) && rest.trim() === "") fence = "";
    } else if (marks !== "") fence = marks;
    const target = fence === "" && !hidden.some(([from, to]) => at > from && at < to) ? INCLUDE.exec(line)?.[1] : undefined;
    done.push(target === undefined ? raw : await include(target.replace(/^(["'])(.*)\1$/, "$2"), index + 1));
  }
  return done.join("\n");
}

/** Where code spans and comments stand that go on over a line's end, a span never over a blank line. */
function spans(text: string): [from: number, to: number][] {
  const found: [number, number][] = [];
  const pattern = /<!--[\s\S]*?-->|(?<!`)(`{1,2})(?!`)(?:(?!\n[ \t\r]*\n)[\s\S])*?(?<!`)\1(?!`)/g;
  for (const match of text.matchAll(pattern)) if (match[0].includes("\n")) found.push([match.index, match.index + match[0].length]);
  return found;
}
