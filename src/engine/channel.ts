/** Values pushed by callbacks, pulled by one reader in their order. */
export class Channel<Value> implements AsyncIterable<Value> {
  readonly #values: Value[] = [];
  #closed = false;
  #wake: (() => void) | undefined;

  push(value: Value): void {
    this.#values.push(value);
    this.#wake?.();
  }

  close(): void {
    this.#closed = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Value> {
    for (;;) {
      while (this.#values.length > 0) {
        const value = this.#values.shift();
        if (value !== undefined) yield value;
      }
      if (this.#closed) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }
}
