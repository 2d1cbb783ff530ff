/** A line to copy stays one line: the terminal's own break does not come along with it. */
const COMMAND = /\b(?:git|roocode) (?:-|[a-z]+\b)/;

/** Breaks long lines between words, where a terminal would cut through one. */
export function wrapWords(text: string, columns: number): string {
  return text
    .split("\n")
    .map((line) => (line.length <= columns || COMMAND.test(line) ? line : wrapLine(line, columns)))
    .join("\n");
}

function wrapLine(line: string, columns: number): string {
  const lines: string[] = [];
  let open = "";
  for (const word of line.split(" ")) {
    const longer = open === "" ? word : `${open} ${word}`;
    if (open !== "" && longer.length > columns) {
      lines.push(open);
      open = word;
    } else open = longer;
  }
  return [...lines, open].join("\n");
}
