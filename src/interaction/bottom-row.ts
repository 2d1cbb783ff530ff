import { visible } from "./visible.ts";

type Output = {
  readonly rows?: number;
  write(text: string): unknown;
  on(event: "resize", listener: () => void): unknown;
  off(event: "resize", listener: () => void): unknown;
};

/** What is drawn may still be overwritten by the input's own line, which clears all below it. */
const SETTLE_MS = 30;
/** Fewer rows belong to the text. */
const FEWEST_ROWS = 5;

/**
 * One line at the bottom of a terminal that is rewritten in its place; the text scrolls above it and stays in the scrollback. What clears
 * the screen below the cursor, as readline does, takes it away: `draw` is called then.
 */
export class BottomRow implements Disposable {
  readonly #output: Output;
  readonly #hasColours: boolean;
  #text = "";
  #rows = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #onResize = () => this.draw();

  constructor(output: Output, hasColours: boolean) {
    this.#output = output;
    this.#hasColours = hasColours;
    output.on("resize", this.#onResize);
  }

  show(text: string): void {
    if (text === this.#text) return;
    this.#text = text;
    this.draw();
  }

  draw(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#paint();
    }, SETTLE_MS);
  }

  #paint(): void {
    const { rows = 24 } = this.#output;
    if (rows < FEWEST_ROWS) {
      this.#release();
      return;
    }
    // The cursor must not stand in the row that is taken out of the scrolling.
    const reserve = this.#rows === rows ? "" : `\x1bD\x1b[A\x1b7\x1b[1;${rows - 1}r\x1b8`;
    this.#rows = rows;
    const text = visible(this.#text).replaceAll("\n", " ");
    const line = this.#hasColours ? `\x1b[7m${text}\x1b[K\x1b[0m` : `${text}\x1b[K`;
    // What is too wide ends at the edge instead of going on in the next row.
    this.#output.write(`${reserve}\x1b7\x1b[${rows};1H\x1b[?7l${line}\x1b[?7h\x1b8`);
  }

  #release(): void {
    if (this.#rows > 0) this.#output.write(`\x1b7\x1b[r\x1b[${this.#rows};1H\x1b[2K\x1b8`);
    this.#rows = 0;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#output.off("resize", this.#onResize);
    this.#release();
  }
}
