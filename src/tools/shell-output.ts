import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { isUnwritable } from "../platform/files.ts";

const HEAD_CHARACTERS = 10_000;
const TAIL_CHARACTERS = 18_000;
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** Output of a command, bounded: head and tail stay in memory; once it is longer, the whole goes to `path`, up to 64 MiB. */
export class ShellOutput {
  readonly #path: string;
  #head = "";
  #tail = "";
  #characters = 0;
  #fd: number | undefined;
  #fileBytes = 0;
  #isKept = false;
  /** Why the file ends before the output does: the command goes on. */
  #problem: string | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  add(text: string): void {
    this.#characters += text.length;
    const room = HEAD_CHARACTERS - this.#head.length;
    if (room > 0) this.#head += text.slice(0, room);
    if (room > 0 && this.#isKept) this.#toFile(text.slice(0, room));
    const rest = room > 0 ? text.slice(room) : text;
    if (rest !== "") {
      this.#toFile(rest);
      this.#tail = `${this.#tail}${rest}`;
      if (this.#tail.length > TAIL_CHARACTERS * 2) this.#tail = this.#tail.slice(-TAIL_CHARACTERS);
    }
  }

  /** From now on the whole is in the file, however little it is: for a command that nobody waits for any more. Gives its path. */
  keepInFile(): string {
    this.#toFile("");
    this.#isKept = true;
    return this.#path;
  }

  soFar(): string {
    return this.#tail === "" ? this.#head : `${this.#head}\n[…]\n${this.#tail.slice(-2_000)}`;
  }

  #toFile(text: string): void {
    if (this.#fileBytes >= MAX_FILE_BYTES || this.#problem !== undefined) return;
    try {
      this.#write(text);
    } catch (error) {
      if (!isUnwritable(error)) throw error;
      this.#problem = error.message;
    }
  }

  /** The head only fits the memory; a file begins with it, so that it is whole. */
  #write(text: string): void {
    let bytes = Buffer.from(text);
    if (this.#fd === undefined) {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      this.#fd = openSync(this.#path, "w", 0o600);
      bytes = Buffer.from(this.#head + text);
    }
    for (let written = 0; written < bytes.length; ) {
      const count = writeSync(this.#fd, bytes, written);
      written += count;
      this.#fileBytes += count;
    }
  }

  /** The text for the model; says what was left out and where it lies. */
  finish(): string {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
    // Not the tail's length alone: it may have been cut to the limit exactly.
    if (this.#head.length + this.#tail.length === this.#characters && this.#tail.length <= TAIL_CHARACTERS) return this.#head + this.#tail;
    const tail = this.#tail.slice(-TAIL_CHARACTERS).replace(/^[\uDC00-\uDFFF]/, "");
    const dropped = this.#characters - this.#head.length - tail.length;
    return `${this.#head}\n[… ${dropped} characters left out; ${this.#whereabouts()} …]\n${tail}`;
  }

  #whereabouts(): string {
    if (this.#problem !== undefined) {
      const begun = this.#fileBytes > 0 ? `; its beginning is in ${this.#path}` : "";
      return `the whole could not be saved (${this.#problem})${begun}`;
    }
    return `${this.#fileBytes >= MAX_FILE_BYTES ? `the first ${MAX_FILE_BYTES} bytes are` : "the whole is"} in ${this.#path}`;
  }
}

/** Escape sequences and control codes that would act on a terminal, made harmless; a carriage return keeps what it would overwrite. */
export function plainText(output: string): string {
  return (
    output
      .replaceAll(/\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g, "")
      .replaceAll(/\x1b[[()#;?]*[0-9;:]*[A-Za-z@^`{|}~<=>]/g, "")
      .replaceAll("\r\n", "\n")
      .replaceAll("\r", "\n")
      // Tab and newline stay.
      .replaceAll(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g, "")
  );
}
