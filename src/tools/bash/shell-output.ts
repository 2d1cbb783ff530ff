import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { isUnwritable } from "../../platform/files.ts";
import { overwritten, plainText } from "./plain-text.ts";
import { Tail } from "./tail.ts";

const HEAD_CHARACTERS = 10_000;
const TAIL_CHARACTERS = 18_000;
/** A line without end is not waited for any longer. */
const MAX_OPEN_LINE = 32_768;
const MAX_FILE_BYTES = 64 * 1024 * 1024;

export type OutputOptions = {
  /** Where the whole goes once it is too long for the model. */
  path: string;
  /** Blanks out secrets, line after line: it may remember that a key has begun. */
  mask?: ((text: string) => string) | undefined;
  /** Told of each text as the model will read it. */
  onText?: ((text: string) => void) | undefined;
};

/**
 * Output of a command, bounded: head and tail stay in memory; once it is longer, the whole goes to a file, up to 64 MiB. Past that
 * only the last bytes are kept, as they came, so that endless output costs neither memory nor much work.
 */
export class ShellOutput {
  readonly #options: OutputOptions;
  readonly #decoder = new StringDecoder("utf8");
  readonly #tail = new Tail(TAIL_CHARACTERS);
  /** What nobody has looked at yet, of a job. */
  readonly #unread = new Tail(TAIL_CHARACTERS);
  #openLine = "";
  #head = "";
  #bytes = 0;
  #fd: number | undefined;
  #fileBytes = 0;
  #isKept = false;
  /** Last bytes once the file is full, and how many of them are new. */
  #raw: Buffer = Buffer.alloc(0);
  #rawUnread = 0;
  /** Why the file ends before the output does: the command goes on. */
  #problem: string | undefined;

  constructor(options: OutputOptions) {
    this.#options = options;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The file takes no more. */
  get isFull(): boolean {
    return this.#fileBytes >= MAX_FILE_BYTES || (this.#problem !== undefined && this.#bytes > MAX_FILE_BYTES);
  }

  add(bytes: Buffer): void {
    this.#bytes += bytes.length;
    if (this.isFull) {
      this.#addRaw(bytes);
      return;
    }
    const text = this.#openLine + this.#decoder.write(bytes);
    const end = text.lastIndexOf("\n") + 1;
    if (end > 0) this.#take(text.slice(0, end));
    this.#openLine = overwritten(text.slice(end));
    if (this.#openLine.length > MAX_OPEN_LINE) this.#flush();
  }

  /** From now on the whole is in the file, however little it is: for a command that nobody waits for. Gives its path. */
  keepInFile(): string {
    if (this.#fd === undefined) this.#toFile("");
    this.#isKept = true;
    return this.#options.path;
  }

  /** What came since the last look, an open line included. */
  takeNew(): string {
    this.#flush();
    const raw = this.#rawUnread > 0 ? this.#rawText(this.#rawUnread) : "";
    this.#rawUnread = 0;
    const { text, dropped } = this.#unread.take();
    return `${dropped > 0 ? `[… ${dropped} characters left out; ${this.#whereabouts()} …]\n` : ""}${text}${raw}`;
  }

  /** Its last lines, for a person; nothing counts as read. */
  lastText(characters: number): string {
    const text = this.#raw.length > 0 ? this.#rawText() : this.#head + this.#tail.text + this.#masked(this.#openLine);
    return whole(text.slice(-characters));
  }

  /** The text for the model; says what was left out and where it lies. No more comes after it. */
  finish(): string {
    this.#openLine += this.#raw.length > 0 ? "" : this.#decoder.end();
    this.#flush();
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
    return this.text();
  }

  text(): string {
    const open = this.#raw.length > 0 ? "" : this.#masked(this.#openLine);
    if (this.#tail.dropped === 0 && this.#raw.length === 0) return this.#head + this.#tail.text + open;
    const tail = this.#raw.length > 0 ? this.#rawText() : this.#tail.text + open;
    return `${this.#head}\n[… the middle of ${this.#bytes} bytes left out; ${this.#whereabouts()} …]\n${tail}`;
  }

  #flush(): void {
    const open = this.#openLine;
    this.#openLine = "";
    if (open !== "") this.#take(open);
  }

  #masked(text: string): string {
    const plain = plainText(text);
    return this.#options.mask?.(plain) ?? plain;
  }

  #take(lines: string): void {
    const text = this.#masked(lines);
    if (text === "") return;
    this.#options.onText?.(text);
    this.#unread.add(text);
    const room = HEAD_CHARACTERS - this.#head.length;
    const first = room > 0 && this.#tail.isEmpty ? whole(text.slice(0, room)) : "";
    const rest = text.slice(first.length);
    this.#head += first;
    if (this.#fd !== undefined || this.#isKept) this.#toFile(text);
    // The head only fits the memory; a file begins with it, so that it is whole.
    else if (rest !== "") this.#toFile(rest);
    this.#tail.add(rest);
  }

  #toFile(text: string): void {
    if (this.#fileBytes >= MAX_FILE_BYTES || this.#problem !== undefined) return;
    try {
      const isNew = this.#fd === undefined;
      if (isNew) mkdirSync(dirname(this.#options.path), { recursive: true, mode: 0o700 });
      this.#fd ??= openSync(this.#options.path, "w", 0o600);
      this.#write(isNew ? this.#head + text : text);
    } catch (error) {
      if (!isUnwritable(error)) throw error;
      this.#problem = error.message;
    }
  }

  #write(text: string): void {
    const bytes = Buffer.from(text);
    for (let written = 0; this.#fd !== undefined && written < bytes.length; ) {
      const count = writeSync(this.#fd, bytes, written);
      written += count;
      this.#fileBytes += count;
    }
  }

  #addRaw(bytes: Buffer): void {
    this.#flush();
    this.#raw = Buffer.concat([this.#raw, bytes.subarray(-4 * TAIL_CHARACTERS)]).subarray(-4 * TAIL_CHARACTERS);
    this.#rawUnread = Math.min(this.#raw.length, this.#rawUnread + bytes.length);
  }

  /** From the first whole line on, or the first whole character. */
  #rawText(bytes = this.#raw.length): string {
    const part = this.#raw.subarray(-bytes);
    const newline = part.indexOf(10);
    const begun = part.findIndex((byte) => (byte & 0xc0) !== 0x80);
    const text = part.subarray(newline >= 0 && newline < part.length / 2 ? newline + 1 : Math.max(0, begun)).toString("utf8");
    return whole(this.#masked(text).slice(-TAIL_CHARACTERS));
  }

  #whereabouts(): string {
    const { path } = this.#options;
    if (this.#problem !== undefined) {
      const begun = this.#fileBytes > 0 ? `; its beginning is in ${path}` : "";
      return `the whole could not be saved (${this.#problem})${begun}`;
    }
    return `${this.#fileBytes >= MAX_FILE_BYTES ? `the first ${MAX_FILE_BYTES} bytes are` : "the whole is"} in ${path}`;
  }
}

/** A cut inside a character leaves half of it: no request may carry that. */
function whole(text: string): string {
  return text.replace(/^[\udc00-\udfff]/, "").replace(/[\ud800-\udbff]$/, "");
}
