import type { ContextReport } from "../../protocol/memory.ts";
import type { ContentBlock, Message } from "../../protocol/message.ts";
import type { TokenCount } from "../token-count.ts";
import { estimateBlock } from "../tokens.ts";

/** For /context. The parts are estimates, brought to the same scale as `used`. */
export function contextReport(
  history: readonly Message[],
  count: TokenCount,
  { window, trigger }: { window: number; trigger: number },
): ContextReport {
  const sums = new Map<string, number>([
    ["system prompt", count.fixed.system],
    ["tools", count.fixed.tools],
    ["instructions and reminders", 0],
    ["user", 0],
    ["assistant", 0],
    ["tool results", 0],
    ["images", 0],
  ]);
  const add = (name: string, tokens: number) => sums.set(name, (sums.get(name) ?? 0) + tokens);
  for (const message of history) {
    for (const block of message.content) {
      for (const part of block.type === "tool_result" ? block.content : [block]) {
        add(partOf(part, block.type === "tool_result" ? "tool results" : message.role), estimateBlock(part));
      }
    }
  }
  const used = count.used(history);
  const sum = [...sums.values()].reduce((total, tokens) => total + tokens, 0);
  const parts = [...sums].map(([name, tokens]) => ({ name, tokens: Math.round(sum > 0 ? (tokens / sum) * used : 0) }));
  return { window, used, trigger, parts: [...parts, { name: "free", tokens: Math.max(0, window - used) }] };
}

function partOf(block: ContentBlock, owner: string): string {
  if (block.type === "image") return "images";
  return block.type === "text" && block.text.startsWith("<system-reminder>") ? "instructions and reminders" : owner;
}
