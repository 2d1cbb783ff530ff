import type { Component } from "@earendil-works/pi-tui";
import { visible } from "../visible.ts";
import { clip } from "./clip.ts";
import type { Theme } from "./theme.ts";

/** The bottom line: parts by their weight, of which the last go first where the screen is narrow. */
export class StatusLine implements Component {
  readonly #parts: () => readonly string[];
  readonly #theme: Theme;

  constructor(parts: () => readonly string[], theme: Theme) {
    this.#parts = parts;
    this.#theme = theme;
  }

  invalidate(): void {}

  render(width: number): string[] {
    const parts = this.#parts().map(visible);
    while (parts.length > 1 && parts.join(" · ").length > width) parts.pop();
    return [this.#theme.dim(clip(parts.join(" · "), width))];
  }
}
