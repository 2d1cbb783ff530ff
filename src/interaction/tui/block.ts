import type { Component } from "@earendil-works/pi-tui";

/** Lines that are made once for each width, and again when it changed. */
export abstract class Block implements Component {
  #lines: string[] | undefined;
  #width = -1;

  protected abstract draw(width: number): string[];

  changed(): void {
    this.#lines = undefined;
  }

  invalidate(): void {
    this.changed();
  }

  render(width: number): string[] {
    if (this.#lines === undefined || this.#width !== width) {
      this.#lines = this.draw(width);
      this.#width = width;
    }
    return this.#lines;
  }
}
