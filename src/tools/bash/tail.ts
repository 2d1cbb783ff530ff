/** The last characters of a text that goes on. */
export class Tail {
  readonly #limit: number;
  #text = "";
  /** In characters, of what is not in the text any more. */
  #dropped = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isEmpty(): boolean {
    return this.#text === "" && this.#dropped === 0;
  }

  get text(): string {
    this.#cut();
    return this.#text;
  }

  get dropped(): number {
    this.#cut();
    return this.#dropped;
  }

  add(text: string): void {
    this.#text += text;
    if (this.#text.length > 4 * this.#limit) this.#cut();
  }

  /** What is there, and from then on nothing. */
  take(): { text: string; dropped: number } {
    const { text, dropped } = this;
    this.#text = "";
    this.#dropped = 0;
    return { text, dropped };
  }

  #cut(): void {
    let from = this.#text.length - this.#limit;
    if (from <= 0) return;
    const code = this.#text.charCodeAt(from);
    if (code >= 0xdc00 && code <= 0xdfff) from += 1;
    this.#dropped += from;
    this.#text = this.#text.slice(from);
  }
}
