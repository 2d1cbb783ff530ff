/** A Markdown file cut where its head ends, without the YAML parser. `firstLine` is that of `yaml`, counted from 1. */
export type SplitFile =
  | { type: "body"; body: string }
  | { type: "head"; yaml: string; firstLine: number; body: string }
  | { type: "open"; line: number };

export function splitFrontMatter(file: string): SplitFile {
  const text = file.replace(/^\uFEFF/, "").replaceAll(/\r\n?/g, "\n");
  const head = /^(\s*\n)?---[ \t]*\n/.exec(text);
  if (!head) return { type: "body", body: text.trim() };
  const rest = text.slice(head[0].length);
  const firstLine = head[0].split("\n").length;
  const end = /^(?:---|\.\.\.)[ \t]*$/m.exec(rest);
  if (!end) return { type: "open", line: firstLine - 1 };
  return { type: "head", yaml: rest.slice(0, end.index), firstLine, body: rest.slice(end.index + end[0].length).trim() };
}
