import type { Component } from "@earendil-works/pi-tui";
import type { SteeringQueue } from "../steering-queue.ts";
import { firstLine, visible } from "../visible.ts";
import { clip } from "./clip.ts";
import type { Theme } from "./theme.ts";

/** What was typed while the agent works and it has not got yet; the arrow key takes the last one back. */
export class QueueView implements Component {
  readonly #queue: SteeringQueue;
  readonly #theme: Theme;

  constructor(queue: SteeringQueue, theme: Theme) {
    this.#queue = queue;
    this.#theme = theme;
  }

  invalidate(): void {}

  render(width: number): string[] {
    const { messages } = this.#queue;
    const lines = messages.map((message) => clip(this.#theme.dim(`  » ${visible(firstLine(message))}`), width));
    return messages.length === 0 ? [] : [...lines, clip(this.#theme.dim("    ↑ takes the last one back"), width)];
  }
}
