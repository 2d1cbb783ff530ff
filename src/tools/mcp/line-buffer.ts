const NEWLINE = 0x0a;

/** Bytes in, lines out. A line's pieces are joined once, at its end: the SDK's own buffer joins them with each piece. */
export class LineBuffer {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** True once the line that has begun is longer than it may be; nothing can be told from what follows. */
  get isOverfull(): boolean {
    return this.#bytes > this.#maxBytes;
  }

  *take(chunk: Buffer): Generator<string> {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      const line = Buffer.concat([...this.#pieces, chunk.subarray(from, end)]).toString("utf8");
      this.#pieces = [];
      this.#bytes = 0;
      from = end + 1;
      if (line.trim() !== "") yield line;
    }
    if (from === chunk.length) return;
    this.#pieces.push(chunk.subarray(from));
    this.#bytes += chunk.length - from;
  }
}
