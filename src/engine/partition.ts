import type { ToolUseBlock } from "../protocol/message.ts";

export type Batch = { concurrent: boolean; calls: ToolUseBlock[] };

/** Neighbouring concurrency-safe calls become one batch, every other call a batch of its own; the order of calls is kept. */
export function partition(calls: readonly ToolUseBlock[], isConcurrencySafe: (call: ToolUseBlock) => boolean, maxBatch = 10): Batch[] {
  const batches: Batch[] = [];
  for (const call of calls) {
    const concurrent = isConcurrencySafe(call);
    const last = batches.at(-1);
    if (concurrent && last?.concurrent && last.calls.length < maxBatch) last.calls.push(call);
    else batches.push({ concurrent, calls: [call] });
  }
  return batches;
}
