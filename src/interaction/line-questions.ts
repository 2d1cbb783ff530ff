import { createInterface, type Interface, type Key as TypedKey } from "node:readline";
import type { InputListener } from "./screen.ts";
import type { Terminal } from "./terminal.ts";

/** How long a lone Esc waits for the rest of an escape sequence. */
const ESCAPE_MS = 50;

/** The input as lines: questions one after another, and output that does not run into what is being typed. */
export class LineQuestions {
  readonly #terminal: Terminal;
  readonly #typed: string[] = [];
  #reader: Interface | undefined;
  #hasEnded = false;
  #queue: Promise<unknown> = Promise.resolve();
  #open: { settle: (answer: string | undefined) => void } | undefined;
  #listener: InputListener | undefined;
  /** A line without a question has begun. */
  #isTyping = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** The last line of the screen belongs to the input: output comes above it, in whole lines. */
  get isOpen(): boolean {
    return this.#open !== undefined || this.#isTyping;
  }

  /** From now on keys, and lines that answer no question, go to the listener. Only on a terminal: in a pipe, lines are prompts in their order. */
  listen(listener: InputListener): void {
    if (this.#terminal.input.isTTY !== true) return;
    this.#listener = listener;
    this.#start();
  }

  /** `goesOn`: a line that has begun already is the beginning of the answer; else it is put aside and comes back. */
  ask(question: string, signal?: AbortSignal, goesOn = false): Promise<string | undefined> {
    const asked = this.#queue.then(() => this.#askNow(question, signal, goesOn));
    this.#queue = asked;
    return asked;
  }

  answer(text: string): void {
    if (this.#reader?.line !== "") return;
    this.#terminal.output.write(`${text}\n`);
    this.#open?.settle(text);
  }

  forgetTyped(): void {
    this.#typed.length = 0;
  }

  /** Above the line that is being typed, which is drawn again below it. */
  print(text: string): void {
    const { output, isScreen } = this.#terminal;
    if (!this.isOpen || !isScreen) {
      output.write(text);
      return;
    }
    output.write(`\r\x1b[K${text}`);
    this.#reader?.prompt(true);
  }

  close(): void {
    this.#reader?.close();
  }

  async #askNow(question: string, signal: AbortSignal | undefined, goesOn: boolean): Promise<string | undefined> {
    if (signal?.aborted) return undefined;
    const { output, isScreen } = this.#terminal;
    const reader = this.#start();
    const putAside = this.#isTyping && !goesOn ? reader.line : "";
    const early = this.#typed.shift();
    if (early !== undefined && reader.terminal) {
      this.print(`${question}${early}\n`);
      return early;
    }
    if (putAside !== "") clearLine(reader);
    if (this.#isTyping && isScreen) output.write("\r\x1b[K");
    this.#isTyping = false;
    // Only the last line is the prompt: what is drawn again must fit a line.
    const lines = question.split("\n");
    const prompt = lines.pop() ?? "";
    if (lines.length > 0) output.write(`${lines.join("\n")}\n`);
    reader.setPrompt(prompt);
    reader.prompt(true);
    if (early !== undefined) return early;
    if (this.#hasEnded) return undefined;
    return new Promise((resolve) => {
      const onAbort = () => settle(undefined);
      const settle = (answer: string | undefined) => {
        if (!this.#open) return;
        this.#open = undefined;
        signal?.removeEventListener("abort", onAbort);
        // readline draws its prompt again when the terminal changes its size.
        reader.setPrompt("");
        if (answer === undefined) {
          output.write("\n");
          // What was begun is no answer; it is put aside for the next question and comes back.
          this.#isTyping = reader.line !== "";
        }
        if (putAside !== "") this.#typeOn(reader, putAside);
        resolve(answer);
      };
      this.#open = { settle };
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** The input is taken only when something is asked or listened for. */
  #start(): Interface {
    if (this.#reader) return this.#reader;
    const { input, output } = this.#terminal;
    const terminal = input.isTTY === true && output.isTTY === true;
    const reader = createInterface({ input, output, terminal, escapeCodeTimeout: ESCAPE_MS, prompt: "" });
    // A terminal that went away can't be set back; its end comes as the end of the input.
    reader.on("error", () => undefined);
    reader.on("line", (line) => this.#onLine(line));
    reader.on("close", () => {
      this.#hasEnded = true;
      this.#open?.settle(undefined);
    });
    // In raw mode Ctrl+C is a key; whoever does not listen for keys waits for the signal.
    reader.on("SIGINT", () => {
      if (!this.#listener) process.kill(process.pid, "SIGINT");
      else if (reader.line === "") this.#listener.key("interrupt");
      else clearLine(reader);
    });
    // After readline's own listener: the line is what the key has made of it.
    if (terminal) input.on("keypress", (_text: string | undefined, key: TypedKey) => this.#onKey(reader, key));
    this.#reader = reader;
    return reader;
  }

  #onLine(line: string): void {
    this.#isTyping = false;
    if (this.#open) this.#open.settle(line);
    else if (!this.#listener?.line(line)) this.#typed.push(line);
  }

  #typeOn(reader: Interface, text: string): void {
    this.#isTyping = true;
    reader.setPrompt("» ");
    reader.prompt(true);
    if (text !== "") reader.write(text);
  }

  #onKey(reader: Interface, key: TypedKey): void {
    if (!this.#listener) return;
    if (key.name === "escape") this.#listener.key("escape");
    else if (key.ctrl && key.name === "b") this.#listener.key("background");
    else if (key.shift && key.name === "tab") this.#listener.key("next-mode");
    if (this.#open) return;
    const { output, isScreen } = this.#terminal;
    if (!this.#isTyping && reader.line !== "") {
      // The first letter stands behind what was being printed.
      if (isScreen) output.write("\b \b\n");
      this.#typeOn(reader, "");
    } else if (this.#isTyping && reader.line === "") {
      this.#isTyping = false;
      reader.setPrompt("");
      if (isScreen) output.write("\r\x1b[K");
    }
  }
}

/** What was typed can be had again with the arrow key. */
function clearLine(reader: Interface): void {
  const { line } = reader;
  reader.write(null, { ctrl: true, name: "e" });
  reader.write(null, { ctrl: true, name: "u" });
  if ("history" in reader && Array.isArray(reader.history)) reader.history.unshift(line);
}
