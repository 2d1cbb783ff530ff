import { type Component, Markdown } from "@earendil-works/pi-tui";
import { lexer } from "marked";
import { clip } from "./clip.ts";
import type { Theme } from "./theme.ts";

/**
 * Markdown as it comes. Paragraphs, lists and so on that are complete are drawn once for each width; only the last, which may still grow,
 * is read again with each piece.
 */
export class MarkdownStream implements Component {
  readonly #theme: Theme;
  readonly #done: Markdown[] = [];
  #open = "";
  #live: Markdown | undefined;
  #isSplit = true;
  #width = -1;
  #lines: string[] = [];

  constructor(theme: Theme) {
    this.#theme = theme;
  }

  push(text: string): void {
    this.#open += text;
    this.#isSplit = false;
    this.#width = -1;
  }

  /** What was streamed so far is void: the attempt is made again. */
  reset(): void {
    this.#done.length = 0;
    this.#open = "";
    this.#isSplit = false;
    this.#width = -1;
  }

  invalidate(): void {
    for (const part of [...this.#done, ...(this.#live ? [this.#live] : [])]) part.invalidate();
    this.#width = -1;
  }

  render(width: number): string[] {
    if (!this.#isSplit) this.#split();
    if (this.#width !== width) {
      const parts = [...this.#done, ...(this.#live ? [this.#live] : [])];
      this.#lines = parts
        .flatMap((part, index) => [...(index > 0 ? [""] : []), ...part.render(width)])
        .map((line) => clip(line.trimEnd(), width));
      this.#width = width;
    }
    return this.#lines;
  }

  #split(): void {
    this.#isSplit = true;
    const tokens = lexer(this.#open);
    // What stands before the last block can't change any more.
    let last = tokens.length - 1;
    while (last > 0 && tokens[last]?.type === "space") last -= 1;
    for (const token of tokens.slice(0, Math.max(0, last))) {
      this.#open = this.#open.slice(token.raw.length);
      if (token.type !== "space") this.#done.push(this.#markdown(token.raw));
    }
    this.#live = this.#open.trim() === "" ? undefined : this.#markdown(this.#open);
  }

  #markdown(text: string): Markdown {
    return new Markdown(text.trimEnd(), 0, 0, this.#theme.markdown);
  }
}
