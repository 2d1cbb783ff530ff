import { createInterface, type Interface } from "node:readline";
import type { Terminal } from "./terminal.ts";

/** The input as lines: questions one after another, and output that does not run into the question that is open. */
export class LineQuestions {
  readonly #terminal: Terminal;
  readonly #typed: string[] = [];
  #reader: Interface | undefined;
  #hasEnded = false;
  #queue: Promise<unknown> = Promise.resolve();
  #open: { settle: (answer: string | undefined) => void } | undefined;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  ask(question: string, signal?: AbortSignal): Promise<string | undefined> {
    const asked = this.#queue.then(() => this.#askNow(question, signal));
    this.#queue = asked;
    return asked;
  }

  forgetTyped(): void {
    this.#typed.length = 0;
  }

  /** Above the open question, which is drawn again below it. */
  print(text: string): void {
    const { output, isScreen } = this.#terminal;
    if (!this.#open || !isScreen) {
      output.write(text);
      return;
    }
    output.write(`\r\x1b[K${text}`);
    this.#reader?.prompt(true);
  }

  close(): void {
    this.#reader?.close();
  }

  async #askNow(question: string, signal?: AbortSignal): Promise<string | undefined> {
    if (signal?.aborted) return undefined;
    const reader = this.#start();
    // Only the last line is the prompt: what is drawn again must fit a line.
    const lines = question.split("\n");
    const prompt = lines.pop() ?? "";
    if (lines.length > 0) this.#terminal.output.write(`${lines.join("\n")}\n`);
    reader.setPrompt(prompt);
    reader.prompt();
    const early = this.#typed.shift();
    if (early !== undefined) return early;
    if (this.#hasEnded) return undefined;
    return new Promise((resolve) => {
      const onAbort = () => settle(undefined);
      const settle = (answer: string | undefined) => {
        if (!this.#open) return;
        this.#open = undefined;
        signal?.removeEventListener("abort", onAbort);
        if (answer === undefined) this.#terminal.output.write("\n");
        resolve(answer);
      };
      this.#open = { settle };
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** The input is taken only when something is asked. */
  #start(): Interface {
    if (this.#reader) return this.#reader;
    const { input, output } = this.#terminal;
    const reader = createInterface({ input, output, terminal: input.isTTY === true && output.isTTY === true });
    reader.on("line", (line) => {
      if (this.#open) this.#open.settle(line);
      else this.#typed.push(line);
    });
    reader.on("close", () => {
      this.#hasEnded = true;
      this.#open?.settle(undefined);
    });
    // In raw mode Ctrl+C is a key; everybody else waits for the signal.
    reader.on("SIGINT", () => {
      process.kill(process.pid, "SIGINT");
    });
    this.#reader = reader;
    return reader;
  }
}
