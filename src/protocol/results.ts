import type { ToolResultBlock, ToolUseBlock, UserMessage } from "./message.ts";
import { escapeSystemTags } from "./system-tags.ts";
import type { ToolResult } from "./tool.ts";

/** A result as the model gets it: never without content, and what a tool found never speaks with the system's voice. */
export function resultBlock(call: Pick<ToolUseBlock, "id">, result: ToolResult): ToolResultBlock {
  const content = result.content
    .filter((block) => block.type !== "text" || block.text !== "")
    .map((block) => (block.type === "text" ? { ...block, text: escapeSystemTags(block.text) } : block));
  return {
    type: "tool_result",
    toolUseId: call.id,
    content: content.length > 0 ? content : [{ type: "text", text: "(no output)" }],
    isError: result.isError ?? false,
    ...(result.found && result.found.length > 0 ? { found: result.found } : {}),
  };
}

/**
 * All results of a round in one user message. A reminder stands inside the last result: text behind the results would teach
 * the model to end its turn. Only what the person typed meanwhile stands there: it is a message to be answered.
 * The loop and a session that is loaded again build it here, so both give the same bytes.
 */
export function resultsMessage(results: readonly ToolResultBlock[], reminder: string | undefined, steering?: string): UserMessage {
  const content: UserMessage["content"] = results.map((result, index) =>
    reminder && index === results.length - 1
      ? { ...result, content: [...result.content, { type: "text" as const, text: reminder }] }
      : result,
  );
  if (steering !== undefined && steering.trim() !== "") content.push({ type: "text", text: steering });
  return { role: "user", content };
}

/** Of a call that was running when the process ended. */
export const UNKNOWN_END = "The process ended before the result was known. The call may have taken effect: check before you repeat it.";
