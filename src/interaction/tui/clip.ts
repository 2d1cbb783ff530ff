import { truncateToWidth, visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";

/** Never wider than the screen: a terminal of one column is narrower than many a character. */
export function clip(line: string, width: number, end = ""): string {
  return visibleWidth(line) > width ? truncateToWidth(line, width, end) : line;
}

export function wrap(text: string, width: number, indent = ""): string[] {
  const room = Math.max(1, width - visibleWidth(indent));
  return text
    .split("\n")
    .flatMap((line) => wrapTextWithAnsi(line.replaceAll("\t", "    "), room))
    .map((line) => clip(`${indent}${line}`, width));
}
