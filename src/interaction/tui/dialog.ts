import { type Component, matchesKey } from "@earendil-works/pi-tui";
import { clip, wrap } from "./clip.ts";
import type { Theme } from "./theme.ts";

export type Choice<Value> = {
  /** One letter that chooses it at once, beside its number. */
  key?: string;
  label: string;
  value: Value;
};

type DialogOptions<Value> = {
  title: string;
  /** Between title and choices; may hold colours. */
  body: (width: number) => string[];
  choices: readonly Choice<Value>[];
  /** What Enter says of other words, where they are an answer: `type other words`. */
  words?: string;
};

/** A question above the input: a letter, a number or the arrows choose; where words are an answer too, they are typed into the input. */
export class Dialog<Value> implements Component {
  readonly #options: DialogOptions<Value>;
  readonly #theme: Theme;
  readonly #rows: () => number;
  #at = 0;
  onChoice: (value: Value) => void = () => undefined;

  constructor(options: DialogOptions<Value>, theme: Theme, rows: () => number) {
    this.#options = options;
    this.#theme = theme;
    this.#rows = rows;
  }

  get title(): string {
    return this.#options.title;
  }

  get takesWords(): boolean {
    return this.#options.words !== undefined;
  }

  invalidate(): void {}

  render(width: number): string[] {
    const { title, body, choices, words } = this.#options;
    const { accent, bold, dim, warn } = this.#theme;
    const lines = choices.flatMap(({ key, label }, index) => {
      const isHere = index === this.#at;
      const head = `${index + 1}. `;
      // All of a label is seen: it may name the rule that it writes.
      const [first = "", ...rest] = wrap(
        `${isHere ? bold(label) : label}${key ? dim(` (${key})`) : ""}`,
        Math.max(1, width - head.length - 2),
      );
      return [`${isHere ? accent("❯ ") : "  "}${head}${first}`, ...rest.map((line) => `  ${" ".repeat(head.length)}${line}`)].map((line) =>
        clip(line, width),
      );
    });
    const hint = words === undefined ? [] : [clip(dim(`  ${words}`), width)];
    const head = wrap(warn(bold(title)), width);
    // The choices stay on the screen, whatever there is to read above them: the input and the status line need five rows.
    const room = Math.max(1, this.#rows() - lines.length - hint.length - head.length - 7);
    const all = body(width);
    const shown =
      all.length > room ? [...all.slice(0, Math.max(0, room - 1)), clip(dim(`    … ${all.length - room + 1} more lines`), width)] : all;
    return ["", ...head, ...shown, ...lines, ...hint];
  }

  /** True when the key was the dialog's; what is not may be a word's letter, for the input. */
  take(data: string, isInputEmpty: boolean): boolean {
    const { choices } = this.#options;
    const count = choices.length;
    if (count === 0 || !isInputEmpty) return false;
    if (matchesKey(data, "up")) this.#at = (this.#at + count - 1) % count;
    else if (matchesKey(data, "down")) this.#at = (this.#at + 1) % count;
    else if (matchesKey(data, "enter")) this.#choose(this.#at);
    else {
      const index = choices.findIndex(({ key }, at) => data === String(at + 1) || (key !== undefined && data.toLowerCase() === key));
      // Where words are an answer, a letter may begin one.
      if (index < 0 || (this.takesWords && !/^\d$/.test(data))) return !this.takesWords;
      this.#choose(index);
    }
    return true;
  }

  #choose(index: number): void {
    const choice = this.#options.choices[index];
    if (choice) this.onChoice(choice.value);
  }
}
