import { Block } from "./block.ts";
import { wrap } from "./clip.ts";

/** Text that does not change any more. */
export class TextBlock extends Block {
  readonly #text: string;
  readonly #paint: (line: string) => string;
  readonly #indent: string;

  constructor(text: string, paint: (line: string) => string = (line) => line, indent = "") {
    super();
    this.#text = text;
    this.#paint = paint;
    this.#indent = indent;
  }

  protected draw(width: number): string[] {
    return wrap(this.#text, width, this.#indent).map((line) => (line === "" ? "" : this.#paint(line)));
  }
}
