import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { MAX_EDIT_BYTES } from "../existing-file.ts";
import { type Encoding, encodingName } from "../text/encoding.ts";
import { MAX_CHARACTERS, MAX_LINE_CHARACTERS } from "./limits.ts";

export type Page = { offset: number; limit: number };

/** `size` in bytes, `head` what it begins with. */
export type OpenText = { file: FileHandle; size: number; head: Buffer };

const CHUNK = 256 * 1024;

/**
 * Some lines with their numbers, and the digest of the whole file; a file too large to be edited is read no further than its page
 * and has none. Streams, so that size does not matter.
 */
export async function readPage(
  { file, size, head }: OpenText,
  shown: string,
  encoding: Encoding,
  page: Page,
): Promise<{ text: string; digest: string | undefined }> {
  const isWhole = size <= MAX_EDIT_BYTES;
  const hash = createHash("sha1");
  const decoder = new TextDecoder(encoding === "8-bit" ? "utf-8" : encodingName(encoding).replace("-bom", ""));
  const pager = new Pager(page, shown);
  let buffer: Buffer | undefined;
  let chunk = head;
  for (let at = head.length; chunk.length > 0; ) {
    if (isWhole) hash.update(chunk);
    pager.add(decoder.decode(chunk, { stream: true }));
    if (at >= size || (!isWhole && pager.isFull)) break;
    buffer ??= Buffer.alloc(CHUNK);
    const { bytesRead } = await file.read(buffer, 0, CHUNK, at);
    at += bytesRead;
    chunk = buffer.subarray(0, bytesRead);
  }
  pager.add(decoder.decode());
  return { text: pager.end(isWhole || !pager.isFull), digest: isWhole ? hash.digest("base64") : undefined };
}

/** Numbered lines of a text that is whole already. */
export function pageOf(text: string, page: Page, shown: string): string {
  const pager = new Pager(page, shown);
  pager.add(text);
  return pager.end(true);
}

/** Takes text piece by piece; keeps the lines of the page and counts the others. */
class Pager {
  isFull = false;
  readonly #lines: string[] = [];
  readonly #page: Page;
  readonly #shown: string;
  #characters = 0;
  #number = 0;
  #line = "";
  #lineLength = 0;

  constructor(page: Page, shown: string) {
    this.#page = page;
    this.#shown = shown;
  }

  add(text: string): void {
    let from = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
      this.#grow(text, from, end);
      this.#endLine();
      from = end + 1;
    }
    this.#grow(text, from, text.length);
  }

  /** `isCounted`: all of the file went through, so its last line is known. */
  end(isCounted: boolean): string {
    if (this.#lineLength > 0) this.#endLine();
    const { offset } = this.#page;
    if (this.#number === 0) return "[the file is empty]";
    if (this.#lines.length === 0) return `[the file has ${this.#number} lines; offset ${offset} is behind its end]`;
    const next = offset + this.#lines.length;
    const total = isCounted ? ` of ${this.#number}` : "";
    const more = this.isFull ? `\n[lines ${offset}-${next - 1}${total}; more lines follow: read on with offset ${next}]` : "";
    return `${this.#lines.join("\n")}${more}`;
  }

  #grow(text: string, from: number, to: number): void {
    this.#lineLength += to - from;
    const room = MAX_LINE_CHARACTERS + 1 - this.#line.length;
    if (room > 0) this.#line += text.slice(from, Math.min(to, from + room));
  }

  #endLine(): void {
    this.#number += 1;
    const isReturn = this.#line.length === this.#lineLength && this.#line.endsWith("\r");
    const line = isReturn ? this.#line.slice(0, -1) : this.#line;
    const length = this.#lineLength - (isReturn ? 1 : 0);
    this.#line = "";
    this.#lineLength = 0;
    if (this.#number < this.#page.offset) return;
    if (this.isFull || this.#lines.length >= this.#page.limit || this.#characters > MAX_CHARACTERS) {
      this.isFull = true;
      return;
    }
    const shown = `${String(this.#number).padStart(6)}\t${length > MAX_LINE_CHARACTERS ? this.#cut(line, length) : line}`;
    this.#lines.push(shown);
    this.#characters += shown.length + 1;
  }

  #cut(line: string, length: number): string {
    const name = this.#shown.replaceAll("'", "'\\''");
    const way = `find a place in it with Grep, or see more with Bash: sed -n ${this.#number}p '${name}' | cut -c ${MAX_LINE_CHARACTERS + 1}-${2 * MAX_LINE_CHARACTERS}`;
    return `${wholeCharacters(line.slice(0, MAX_LINE_CHARACTERS))} [… line cut … it has ${length} characters; ${way}]`;
  }
}

/** Half of a pair of surrogates is no text that a provider takes. */
function wholeCharacters(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}
