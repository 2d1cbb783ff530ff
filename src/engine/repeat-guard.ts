import type { ToolResultBlock, ToolUseBlock } from "../protocol/message.ts";

const REMIND_AT = 4;
const STOP_AT = 6;

/** Sees rounds that repeat: the same calls with the same results, one round after another. */
export class RepeatGuard {
  #last = "";
  #count = 0;

  observe(calls: readonly ToolUseBlock[], results: readonly ToolResultBlock[]): "remind" | "stop" | undefined {
    const round = JSON.stringify([calls.map(({ name, input }) => [name, input]), results.map(({ content }) => content)]);
    this.#count = round === this.#last ? this.#count + 1 : 1;
    this.#last = round;
    if (this.#count >= STOP_AT) return "stop";
    return this.#count === REMIND_AT ? "remind" : undefined;
  }
}
