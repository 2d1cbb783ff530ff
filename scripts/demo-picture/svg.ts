import headless, { type IBufferCell } from "@xterm/headless";
import { escapeHtml } from "../../src/platform/html.ts";

export type Size = { columns: number; rows: number };
type Run = { column: number; text: string; style: string };

const CELL = { width: 8.4, height: 18 };
const PADDING = 14;
const SECONDS_EACH = 5;
const INK = "#d5d8df";
const PAPER = "#16181d";
/** The sixteen colours that a terminal names by number. */
const PALETTE =
  "#3b4048 #f07178 #9ccc65 #e6c07b #6cb0f0 #c792ea #56c8d8 #d5d8df #7f8694 #ff8b92 #b5e08a #f5d58f #8cc6ff #dcb0ff #7fe3f0 #ffffff".split(
    " ",
  );

/**
 * One picture of several screens, as `tmux capture-pane -e` gives them, one after another. Style sheets alone move it: where they don't, and
 * where the reader wants no motion, the last screen stands.
 */
export async function picture(screens: readonly string[], size: Size, title: string): Promise<string> {
  const frames = await Promise.all(screens.map((screen) => runsOf(screen, size)));
  const width = Math.ceil(size.columns * CELL.width + 2 * PADDING);
  const height = size.rows * CELL.height + 2 * PADDING;
  const groups = frames.map((runs, index) => `<g class="f f${index}">${runs.map(textOf).join("")}</g>`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escapeHtml(title)}</title>`,
    `<style>${styles(frames.length)}</style>`,
    `<rect width="${width}" height="${height}" rx="8" fill="${PAPER}"/>`,
    ...groups,
    "</svg>\n",
  ].join("\n");
}

function styles(count: number): string {
  const part = 100 / count;
  const all = count * SECONDS_EACH;
  return [
    `text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:${INK};white-space:pre}`,
    `.f{opacity:0}.f${count - 1}{opacity:1}.b{font-weight:bold}.d{opacity:.62}`,
    `@media (prefers-reduced-motion:no-preference){.f{animation:f ${all}s step-end infinite}`,
    `@keyframes f{0%{opacity:1}${part}%{opacity:0}}`,
    ...Array.from({ length: count }, (_, index) => `.f${index}{animation-delay:${index * SECONDS_EACH - (index === 0 ? 0 : all)}s}`),
    "}",
  ].join("");
}

async function runsOf(screen: string, { columns, rows }: Size): Promise<(Run & { row: number })[]> {
  const terminal = new headless.Terminal({ cols: columns, rows, allowProposedApi: true, convertEol: true });
  await new Promise<void>((resolve) => terminal.write(screen.trimEnd(), resolve));
  const found: (Run & { row: number })[] = [];
  for (let row = 0; row < rows; row += 1) {
    const line = terminal.buffer.active.getLine(row);
    for (let column = 0; column < columns; column += 1) {
      const cell = line?.getCell(column);
      if (!cell || cell.getWidth() === 0) continue;
      const style = styleOf(cell);
      const before = found.at(-1);
      if (before?.row === row && before.style === style && before.column + before.text.length === column)
        before.text += cell.getChars() || " ";
      else found.push({ row, column, text: cell.getChars() || " ", style });
    }
  }
  terminal.dispose();
  return found.filter(({ text }) => text.trim() !== "").map((run) => ({ ...run, text: run.text.trimEnd() }));
}

/** Attributes of a text. What is shown the other way round has no colours of its own here. */
function styleOf(cell: IBufferCell): string {
  const names = [...(cell.isBold() ? ["b"] : []), ...(cell.isDim() ? ["d"] : [])];
  const color = cell.isFgRGB()
    ? `#${cell.getFgColor().toString(16).padStart(6, "0")}`
    : cell.isFgPalette()
      ? PALETTE[cell.getFgColor()]
      : undefined;
  return `${names.length > 0 ? ` class="${names.join(" ")}"` : ""}${color ? ` fill="${color}" style="fill:${color}"` : ""}`;
}

/** As wide as its cells, whatever the reader's font. */
function textOf({ row, column, text, style }: Run & { row: number }): string {
  const indent = text.length - text.trimStart().length;
  const words = text.trimStart();
  const x = (PADDING + (column + indent) * CELL.width).toFixed(1);
  const y = PADDING + row * CELL.height + 13;
  return `<text x="${x}" y="${y}" textLength="${(words.length * CELL.width).toFixed(1)}"${style}>${escapeHtml(words)}</text>`;
}
