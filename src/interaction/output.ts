import type { LoopComplete } from "../protocol/agent.ts";

export const OPEN_QUESTION = 4;

/** Exit code of a finished run (spec.md, section 2); `openQuestions`: questions that no human was there to answer. */
export function exitCodeOf(end: LoopComplete, openQuestions = 0): number {
  switch (end.reason) {
    case "aborted":
      return 130;
    case "error":
      return end.error && PROVIDER_KINDS.has(end.error.kind) ? 5 : 1;
    case "end_turn":
      return openQuestions > 0 ? OPEN_QUESTION : 0;
    case "max_turns":
    case "refusal":
    case "unknown_tools":
    case "repeating":
    case "budget":
    case "hook":
      return 1;
  }
}

/** Of these the provider, the key or the way to it is the cause; a bad request or a full context is the task's. */
const PROVIDER_KINDS = new Set(["auth", "network", "overloaded", "rate_limit", "server", "quota", "stalled", "truncated", "parse"]);
