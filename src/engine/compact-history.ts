import type { AgentEvent, CompactTrigger } from "../protocol/agent.ts";
import type { Compactor } from "../protocol/memory.ts";
import type { Message } from "../protocol/message.ts";
import type { Usage } from "../protocol/model.ts";

/** The second layer of memory takes the history's place, in place, or says in a sentence why not. `usage` is undefined when it did. */
export type Compacted = { usage: Usage; refusal?: undefined } | { refusal: string };

export async function* compactHistory(
  history: Message[],
  compactor: Compactor,
  options: { trigger: CompactTrigger; focus?: string | undefined },
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, Compacted> {
  yield { type: "state", state: "compacting" };
  const outcome = yield* compactor.compact(history, options, signal);
  if ("failed" in outcome) return { refusal: outcome.failed };
  const { mode, tokensBefore, tokensAfter, usage } = outcome;
  history.splice(0, history.length, ...outcome.history);
  yield { type: "compacted", trigger: options.trigger, mode, tokensBefore, tokensAfter, usage };
  return { usage };
}
