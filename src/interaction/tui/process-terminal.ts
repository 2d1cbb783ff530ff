import { StdinBuffer, setKittyProtocolActive, type Terminal } from "@earendil-works/pi-tui";
import type { Terminal as Streams } from "../terminal.ts";

/** How long a lone Esc waits for the rest of an escape sequence: over a slow line they come apart. */
const ESCAPE_MS = 50;
/** How long the terminal has to say that it knows the Kitty keyboard protocol. */
const ANSWER_MS = 150;
const KITTY_ANSWER = /^\x1b\[\?\d+u$/;
const ON = { paste: "\x1b[?2004h", askKitty: "\x1b[?u", kitty: "\x1b[>1u", otherKeys: "\x1b[>4;1m" };
const OFF = { paste: "\x1b[?2004l", kitty: "\x1b[<u", otherKeys: "\x1b[>4;0m", synchronized: "\x1b[?2026l", cursor: "\x1b[?25h" };

/**
 * The process's own terminal, as the screen library wants it. However the process ends, but for kill -9, the terminal is as it was: keys
 * echo, no mode of ours is left on, the cursor is there.
 */
export class ProcessTerminal implements Terminal {
  readonly #input: NodeJS.ReadStream;
  readonly #output: NodeJS.WriteStream;
  #buffer: StdinBuffer | undefined;
  #onInput: (data: string) => void = () => undefined;
  #onResize: () => void = () => undefined;
  #hasKitty = false;
  #hasOtherKeys = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #onData = (data: string) => this.#buffer?.process(data);
  readonly #onExit = () => this.stop();

  constructor({ input, output }: Pick<Streams, "input" | "output">) {
    this.#input = input;
    this.#output = output;
  }

  get kittyProtocolActive(): boolean {
    return this.#hasKitty;
  }

  get columns(): number {
    return this.#output.columns || 80;
  }

  get rows(): number {
    return this.#output.rows || 24;
  }

  start(onInput: (data: string) => void, onResize: () => void): void {
    this.#onInput = onInput;
    this.#onResize = onResize;
    this.#buffer = new StdinBuffer({ timeout: ESCAPE_MS });
    this.#buffer.on("data", (sequence) => this.#take(sequence));
    this.#buffer.on("paste", (text) => this.#onInput(`\x1b[200~${text}\x1b[201~`));
    this.#input.setEncoding("utf8");
    this.#input.setRawMode(true);
    this.#input.on("data", this.#onData);
    this.#input.resume();
    this.#output.on("resize", this.#onResize);
    process.once("exit", this.#onExit);
    this.write(ON.paste + ON.askKitty);
    this.#timer = setTimeout(() => {
      if (this.#hasKitty) return;
      this.#hasOtherKeys = true;
      this.write(ON.otherKeys);
    }, ANSWER_MS);
    this.#timer.unref();
  }

  stop(): void {
    if (!this.#buffer) return;
    clearTimeout(this.#timer);
    this.#buffer.destroy();
    this.#buffer = undefined;
    process.off("exit", this.#onExit);
    this.#output.off("resize", this.#onResize);
    this.#input.off("data", this.#onData);
    this.write(OFF.synchronized + OFF.paste + (this.#hasKitty ? OFF.kitty : "") + (this.#hasOtherKeys ? OFF.otherKeys : "") + OFF.cursor);
    this.#setKitty(false);
    this.#hasOtherKeys = false;
    this.#input.setRawMode(false);
    this.#input.pause();
  }

  async drainInput(): Promise<void> {}

  write(data: string): void {
    this.#output.write(data);
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

  #take(sequence: string): void {
    if (!this.#hasKitty && KITTY_ANSWER.test(sequence)) {
      this.#setKitty(true);
      this.write(ON.kitty);
    } else this.#onInput(sequence);
  }

  #setKitty(isOn: boolean): void {
    this.#hasKitty = isOn;
    setKittyProtocolActive(isOn);
  }
}
