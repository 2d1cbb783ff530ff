import type { AgentEvent } from "../protocol/agent.ts";

/** `Compacted: about 167000 tokens became 9000.` */
export function compactedText({ tokensBefore, tokensAfter, mode }: Extract<AgentEvent, { type: "compacted" }>): string {
  const how = mode === "dropped" ? " (the oldest rounds were dropped; no summary could be made)" : "";
  return `Compacted: about ${tokensBefore} tokens became ${tokensAfter}${how}.`;
}
