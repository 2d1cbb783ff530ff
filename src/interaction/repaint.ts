/** Code points from here on are two columns wide, but for the signs in between: arrows, boxes, marks. */
const WIDE = 0x1100;
const NARROW_SIGNS = { from: 0x2000, to: 0x2e7f };

type Terminal = { isTTY?: boolean; columns?: number; rows?: number };

/** A text that is painted again in its place; the last one stays. To a pipe each goes below the one before. */
export class Repaint {
  readonly #terminal: Terminal;
  readonly #write: (text: string) => void;
  #last: string | undefined;
  #height = 0;

  constructor(terminal: Terminal, write: (text: string) => void) {
    this.#terminal = terminal;
    this.#write = write;
  }

  show(text: string): void {
    if (text === this.#last) return;
    const isFirst = this.#last === undefined;
    this.#last = text;
    if (!this.#terminal.isTTY) {
      this.#write(`${isFirst ? "" : "\n"}${text}\n`);
      return;
    }
    const { columns = 80, rows = 24 } = this.#terminal;
    const lines = fitting(text.split("\n"), rows - 1).map((line) => cut(line, columns - 1));
    const up = this.#height > 0 ? `\x1b[${this.#height}A` : "";
    this.#write(`${up}\r${lines.map((line) => `${line}\x1b[K\n`).join("")}\x1b[J`);
    this.#height = lines.length;
  }
}

function fitting(lines: readonly string[], most: number): string[] {
  if (lines.length <= most) return [...lines];
  const room = Math.max(0, most - 1);
  return [...lines.slice(0, room), `… ${lines.length - room} more lines`];
}

/** A line that wrapped would be painted one row too low. */
function cut(line: string, columns: number): string {
  let width = 0;
  let text = "";
  for (const character of line) {
    const code = character.codePointAt(0) ?? 0;
    width += code >= WIDE && (code < NARROW_SIGNS.from || code > NARROW_SIGNS.to) ? 2 : 1;
    if (width > columns) return text;
    text += character;
  }
  return text;
}
