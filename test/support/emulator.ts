import type { Terminal } from "@earendil-works/pi-tui";
import headless from "@xterm/headless";

/** A terminal in memory: what is written to it, and what stands on it. */
export class Emulator implements Terminal {
  readonly #xterm: headless.Terminal;
  #onInput: (data: string) => void = () => undefined;
  #onResize: () => void = () => undefined;
  #written: Promise<void> = Promise.resolve();
  /** All bytes so far. */
  output = "";
  isStarted = false;
  readonly kittyProtocolActive = false;

  constructor(columns = 80, rows = 24) {
    this.#xterm = new headless.Terminal({ cols: columns, rows, scrollback: 5_000, allowProposedApi: true });
  }

  get columns(): number {
    return this.#xterm.cols;
  }

  get rows(): number {
    return this.#xterm.rows;
  }

  start(onInput: (data: string) => void, onResize: () => void): void {
    this.isStarted = true;
    this.#onInput = onInput;
    this.#onResize = onResize;
  }

  stop(): void {
    this.isStarted = false;
  }

  async drainInput(): Promise<void> {}

  write(data: string): void {
    this.output += data;
    this.#written = this.#written.then(() => new Promise((resolve) => this.#xterm.write(data, resolve)));
  }

  moveBy(lines: number): void {
    if (lines !== 0) this.write(lines > 0 ? `\x1b[${lines}B` : `\x1b[${-lines}A`);
  }

  hideCursor(): void {
    this.write("\x1b[?25l");
  }

  showCursor(): void {
    this.write("\x1b[?25h");
  }

  clearLine(): void {
    this.write("\x1b[K");
  }

  clearFromCursor(): void {
    this.write("\x1b[J");
  }

  clearScreen(): void {
    this.write("\x1b[2J\x1b[H");
  }

  setTitle(): void {}

  setProgress(): void {}

  /** As sequences, one a key. */
  keys(...sequences: readonly string[]): void {
    for (const sequence of sequences) this.#onInput(sequence);
  }

  type(text: string): void {
    for (const { segment } of new Intl.Segmenter().segment(text)) this.#onInput(segment);
  }

  paste(text: string): void {
    this.#onInput(`\x1b[200~${text}\x1b[201~`);
  }

  resize(columns: number, rows: number): void {
    this.#xterm.resize(columns, rows);
    this.#onResize();
  }

  /** When all that was asked to be drawn stands there: the library draws once in 16 ms. */
  async settled(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 40));
    await this.#written;
  }

  /** Lines of the screen, blanks at their ends cut; `all` with what has scrolled out. */
  async text(part: "screen" | "all" = "screen"): Promise<string> {
    await this.settled();
    const buffer = this.#xterm.buffer.active;
    const first = part === "all" ? 0 : buffer.baseY;
    const lines = Array.from(
      { length: buffer.baseY + this.rows - first },
      (_, index) => buffer.getLine(first + index)?.translateToString(true) ?? "",
    );
    return lines
      .map((line) => line.trimEnd())
      .join("\n")
      .trimEnd();
  }

  async cursor(): Promise<{ column: number; row: number }> {
    await this.settled();
    const { cursorX: column, cursorY: row } = this.#xterm.buffer.active;
    return { column, row };
  }
}
