import type { AgentEvent } from "../protocol/agent.ts";
import { interrupter } from "../protocol/interruption.ts";
import type { ToolResultBlock, ToolUseBlock } from "../protocol/message.ts";
import { resultBlock } from "../protocol/results.ts";
import { errorResult, resultText, type ToolResult } from "../protocol/tool.ts";
import { Channel } from "./channel.ts";
import { type Batch, partition } from "./partition.ts";
import { type PreparedCall, prepareCall, type RunToolOptions } from "./run-tool.ts";

const MAX_RESULT_CHARACTERS = 30_000;
const MIN_RESULT_CHARACTERS = 5_000;
/** Ten parallel reads must not fill the window: what ends late is cut harder. */
const MAX_ROUND_CHARACTERS = 100_000;

/**
 * Runs all calls of one assistant message, batch after batch. Each result is yielded as it ends; what comes back stands in
 * the order of the calls, one result each, an interrupt included.
 */
export async function* runRound(
  calls: readonly ToolUseBlock[],
  options: RunToolOptions,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, ToolResultBlock[]> {
  const results = new Map<string, ToolResultBlock>();
  const budget = { left: MAX_ROUND_CHARACTERS };
  for (const batch of partition(calls, (call) => isConcurrencySafe(call, options))) {
    for (const call of batch.calls) yield { type: "tool_use", call };
    const channel = new Channel<AgentEvent>();
    const running = runBatch(batch, options, budget, signal, (event) => channel.push(event)).finally(() => channel.close());
    for await (const event of channel) {
      if (event.type === "tool_result") results.set(event.call.id, resultBlock(event.call, event.result));
      yield event;
    }
    await running;
  }
  return calls.flatMap((call) => results.get(call.id) ?? []);
}

async function runBatch(
  batch: Batch,
  options: RunToolOptions,
  budget: { left: number },
  signal: AbortSignal,
  emit: (event: AgentEvent) => void,
): Promise<void> {
  const prepared: PreparedCall[] = [];
  // Questions come one at a time, in the order of the calls, before any call of the batch runs.
  for (const call of batch.calls) {
    if (signal.aborted)
      prepared.push({ call, type: "answered", result: errorResult(`Not started: interrupted by ${interrupter(signal)}.`) });
    else prepared.push(await prepareCall(call, options, signal, emit));
  }
  const siblings = new AbortController();
  const runSignal = AbortSignal.any([signal, siblings.signal]);
  await Promise.all(
    prepared.map(async (one) => {
      const whole = await runOne(one, runSignal, (text) => emit({ type: "tool_progress", id: one.call.id, text }));
      const result = await options.shrink(one.call, whole, Math.max(MIN_RESULT_CHARACTERS, Math.min(MAX_RESULT_CHARACTERS, budget.left)));
      budget.left -= resultText(result).length;
      const cancelled = siblings.signal.aborted && result.isError && !signal.aborted;
      emit({ type: "tool_result", call: one.call, result: cancelled ? errorResult("Cancelled: a command beside it failed.") : result });
      if (result.isError && one.type === "ready" && one.call.name === "Bash") siblings.abort();
    }),
  );
}

function runOne(one: PreparedCall, signal: AbortSignal, progress: (text: string) => void): Promise<ToolResult> {
  if (one.type === "answered") return Promise.resolve(one.result);
  if (signal.aborted) return Promise.resolve(errorResult(`Not started: interrupted by ${interrupter(signal)}.`));
  return one.run(signal, progress);
}

/** An unknown tool or an input that does not parse is never safe beside others. */
function isConcurrencySafe(call: ToolUseBlock, options: RunToolOptions): boolean {
  const tool = options.tools.get(call.name);
  if (!tool || call.malformed !== undefined) return false;
  try {
    return tool.isConcurrencySafe(tool.parse(call.input));
  } catch {
    return false;
  }
}
