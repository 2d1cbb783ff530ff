export type TaggedText = { type: "text" | "thinking"; text: string };

const OPEN = "<think>";
const CLOSE = "</think>";

/** Splits `<think>…</think>` off the very start of a content that comes in pieces. A tag further on is text. */
export class ThinkTags {
  #state: "start" | "thinking" | "text" = "start";
  #held = "";

  *push(piece: string): Generator<TaggedText> {
    this.#held += piece;
    if (this.#state === "start") {
      if (this.#held.length < OPEN.length && OPEN.startsWith(this.#held)) return;
      this.#state = this.#held.startsWith(OPEN) ? "thinking" : "text";
      if (this.#state === "thinking") this.#held = this.#held.slice(OPEN.length);
    }
    if (this.#state === "thinking") {
      const close = this.#held.indexOf(CLOSE);
      if (close < 0) return yield* this.#release("thinking", this.#held.length - heldBack(this.#held));
      yield* this.#release("thinking", close);
      this.#held = this.#held.slice(CLOSE.length);
      this.#state = "text";
    }
    yield* this.#release("text", this.#held.length);
  }

  /** What waited for the rest of a tag that did not come. */
  *flush(): Generator<TaggedText> {
    yield* this.#release(this.#state === "thinking" ? "thinking" : "text", this.#held.length);
    if (this.#state === "start") this.#state = "text";
  }

  *#release(type: TaggedText["type"], length: number): Generator<TaggedText> {
    const text = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    if (text !== "") yield { type, text };
  }
}

/** How many characters at the end may be the beginning of a closing tag. */
function heldBack(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length--) if (text.endsWith(CLOSE.slice(0, length))) return length;
  return 0;
}
