import { type Component, fuzzyFilter, matchesKey } from "@earendil-works/pi-tui";
import type { PickItem } from "../pick.ts";
import { visible } from "../visible.ts";
import { clip, wrap } from "./clip.ts";
import type { Theme } from "./theme.ts";

type PickerParts<Value> = {
  title: string;
  items: readonly PickItem<Value>[];
  /** What is typed into the input: only what matches it is shown. */
  typed: () => string;
  theme: Theme;
  rows: () => number;
};

/** A list above the input to take one of: the arrows move, Enter takes, what is typed filters. */
export class Picker<Value> implements Component {
  readonly #parts: PickerParts<Value>;
  #at = 0;
  #filter = "";
  onPick: (value: Value) => void = () => undefined;

  constructor(parts: PickerParts<Value>) {
    this.#parts = parts;
  }

  get title(): string {
    return this.#parts.title;
  }

  invalidate(): void {}

  render(width: number): string[] {
    const { accent, bold, dim, warn } = this.#parts.theme;
    const found = this.#found();
    const room = Math.max(1, Math.min(15, this.#parts.rows() - 10));
    const first = Math.max(0, Math.min(this.#at - Math.floor(room / 2), found.length - room));
    const lines = found.slice(first, first + room).map(({ label, note }, index) => {
      const isHere = first + index === this.#at;
      const text = visible(label);
      return clip(`${isHere ? accent("❯ ") : "  "}${isHere ? bold(text) : text}${note ? dim(`  ${visible(note)}`) : ""}`, width, "…");
    });
    const count = found.length > room ? [clip(dim(`  ${this.#at + 1} of ${found.length}`), width)] : [];
    const none = found.length === 0 ? [clip(dim("  Nothing matches what you typed."), width)] : [];
    const hint = clip(dim("  ↑ ↓ and Enter choose, typing filters, Esc leaves"), width);
    return ["", ...wrap(warn(bold(this.#parts.title)), width), ...lines, ...none, ...count, hint];
  }

  /** True when the key was the list's; all else is typed into the input. */
  take(data: string): boolean {
    const found = this.#found();
    const count = Math.max(1, found.length);
    if (matchesKey(data, "up")) this.#at = (this.#at + count - 1) % count;
    else if (matchesKey(data, "down")) this.#at = (this.#at + 1) % count;
    else if (matchesKey(data, "enter")) {
      const item = found[this.#at];
      if (item) this.onPick(item.value);
    } else return false;
    return true;
  }

  #found(): readonly PickItem<Value>[] {
    const { items, typed } = this.#parts;
    const filter = typed().trim();
    // The best match stands first.
    if (filter !== this.#filter) this.#at = 0;
    this.#filter = filter;
    const found = filter === "" ? items : fuzzyFilter([...items], filter, ({ label, note = "" }) => `${label} ${note}`);
    this.#at = Math.min(this.#at, Math.max(0, found.length - 1));
    return found;
  }
}
