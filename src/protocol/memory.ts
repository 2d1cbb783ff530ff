import type { AgentEvent, CompactMode, CompactTrigger } from "./agent.ts";
import type { Message } from "./message.ts";
import type { Usage } from "./model.ts";

export type Compaction = {
  /** One user message. */
  history: Message[];
  mode: CompactMode;
  tokensBefore: number;
  tokensAfter: number;
  /** Of all summary requests, failed ones too. */
  usage: Usage;
};
/** What fills the window, in tokens (estimates but for `used`, which builds on the last usage that a server told). */
export type ContextReport = { window: number; used: number; trigger: number; parts: { name: string; tokens: number }[] };

/** Second layer of memory, as the loop uses it. One for each conversation; nothing here throws but for a bug. */
export interface Compactor {
  /** The next request with this history would come too near to a limit: tokens, images or bytes. */
  isDue(history: readonly Message[]): boolean;
  /** To be called with each answer's usage and the history as it was sent. */
  observe(history: readonly Message[], usage: Usage): void;
  /** A server refused the history as too long; `limitTokens` is the window that it named. */
  tooLong(limitTokens: number | undefined): void;
  /** Gives a reason in words when no rung helped; then the history stays as it is. An abort counts as one. */
  compact(
    history: readonly Message[],
    options: { trigger: CompactTrigger; focus?: string | undefined },
    signal: AbortSignal,
  ): AsyncGenerator<AgentEvent, Compaction | { failed: string }>;
  report(history: readonly Message[]): ContextReport;
}
