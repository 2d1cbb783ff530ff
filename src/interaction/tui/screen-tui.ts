import { type Terminal, TUI } from "@earendil-works/pi-tui";
import { clip } from "./clip.ts";

/**
 * The library's screen with two changes. A line that is too wide is cut instead of ending the program. And what has scrolled out of sight
 * stays as it was drawn: to change it the library would clear the screen and the scrollback and draw all again.
 */
export class ScreenTui extends TUI {
  /** As they were handed out last, on a screen of this size. */
  #drawn: readonly string[] = [];
  #size = "";
  /** So many of them are out of sight. */
  #hidden = 0;

  constructor(terminal: Terminal) {
    super(terminal, true);
  }

  override requestRender(force = false): void {
    // Drawn anew from the first line.
    if (force) this.#size = "";
    super.requestRender(force);
  }

  override render(width: number): string[] {
    const lines = super.render(width);
    const size = `${width}x${this.terminal.rows}`;
    if (size !== this.#size) this.#hidden = 0;
    const kept = Math.min(this.#hidden, lines.length);
    for (let index = 0; index < kept; index += 1) lines[index] = this.#drawn[index] ?? "";
    for (let index = kept; index < lines.length; index += 1) lines[index] = clip(lines[index] ?? "", width);
    this.#size = size;
    this.#hidden = Math.max(this.#hidden, lines.length - this.terminal.rows);
    this.#drawn = lines.slice();
    return lines;
  }
}
