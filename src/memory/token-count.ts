import type { Message } from "../protocol/message.ts";
import type { ToolSpec, Usage } from "../protocol/model.ts";
import { estimateMessage, estimateText, estimateTools, mostTokens } from "./tokens.ts";

/** Tokens by a server's count / tokens by ours: what it begins with, and how far it is believed. */
const FIRST_RATIO = 1.25;
const MIN_RATIO = 0.7;
const MAX_RATIO = 2;
/** Growth below this is more noise than measure. */
const MIN_GROWTH = 100;

export type Told = "learned" | "nothing" | "too_low";
type Last = { message: Message; length: number; prompt: number; output: number; raw: number };

/**
 * How full a conversation's window is: the last usage that its server told, plus our estimate of what came since, times a ratio
 * learned from this model's answers. `raw` figures are estimates without the ratio.
 */
export class TokenCount {
  readonly #fixed: { system: string; toolSpecs: readonly ToolSpec[] };
  readonly #known = new WeakMap<Message, number>();
  #fixedTokens: { system: number; tools: number; count: number } | undefined;
  #ratio = FIRST_RATIO;
  #last: Last | undefined;

  constructor(fixed: { system: string; toolSpecs: readonly ToolSpec[] }) {
    this.#fixed = fixed;
  }

  get ratio(): number {
    return this.#ratio;
  }

  /** Of the system prompt and the tools, which no compaction changes; found tools stand behind those that were there. */
  get fixed(): { system: number; tools: number } {
    const { system, toolSpecs } = this.#fixed;
    const known = this.#fixedTokens ?? { system: estimateText(system), tools: 0, count: 0 };
    const tools = known.tools + estimateTools(toolSpecs.slice(known.count));
    this.#fixedTokens = { system: known.system, tools, count: toolSpecs.length };
    return this.#fixedTokens;
  }

  rawMessages(messages: readonly Message[]): number {
    let sum = 0;
    for (const message of messages) sum += this.#rawMessage(message);
    return sum;
  }

  raw(history: readonly Message[]): number {
    return this.fixed.system + this.fixed.tools + this.rawMessages(history);
  }

  used(history: readonly Message[]): number {
    const raw = this.raw(history);
    const last = this.#lastOf(history);
    if (!last) return Math.ceil(this.#ratio * raw);
    // The answer itself is counted by the server, as output.
    const since = history.slice(history[last.length]?.role === "assistant" ? last.length + 1 : last.length);
    const told = last.prompt + last.output + this.#ratio * this.rawMessages(since);
    return Math.ceil(Math.max(told, MIN_RATIO * raw));
  }

  /** Never less than `used`. Before the first answer only lengths are looked at: to read all of the tools costs a start more than it tells. */
  usedAtMost(history: readonly Message[]): number {
    if (this.#fixedTokens || this.#last) return this.used(history);
    const { system, toolSpecs } = this.#fixed;
    return Math.ceil(this.#ratio * (system.length + mostTokens(toolSpecs) + this.rawMessages(history)));
  }

  /** `history` as it was sent. A server that tells nothing, or less than half of what it was sent, has told nothing to build on. */
  observe(history: readonly Message[], usage: Usage): Told {
    const message = history.at(-1);
    const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
    const raw = this.raw(history);
    const before = this.#lastOf(history);
    this.#last = undefined;
    if (!message || !(prompt > 0)) return "nothing";
    if (prompt < raw / 2 && raw > MIN_GROWTH * 5) return "too_low";
    this.#last = { message, length: history.length, prompt, output: usage.output, raw };
    this.#learn(prompt - (before?.prompt ?? 0), raw - (before?.raw ?? 0));
    return "learned";
  }

  /** A server counted at least `tokens` where we estimated `raw`. */
  isAtLeast(tokens: number, raw: number): void {
    if (raw > 0) this.#ratio = clamp(Math.max(this.#ratio, tokens / raw));
  }

  #learn(real: number, estimated: number): void {
    if (estimated >= MIN_GROWTH) this.#ratio = (this.#ratio + clamp(real / estimated)) / 2;
  }

  /** Undefined once the history is another one than that of the last answer: after a compaction, after a rewind. */
  #lastOf(history: readonly Message[]): Last | undefined {
    return this.#last && history[this.#last.length - 1] === this.#last.message ? this.#last : undefined;
  }

  #rawMessage(message: Message): number {
    const known = this.#known.get(message);
    if (known !== undefined) return known;
    const tokens = estimateMessage(message);
    this.#known.set(message, tokens);
    return tokens;
  }
}

function clamp(ratio: number): number {
  return Math.min(MAX_RATIO, Math.max(MIN_RATIO, ratio));
}
