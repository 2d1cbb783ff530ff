import type { AssistantMessage, Message, ToolResultBlock } from "../protocol/message.ts";
import { toolCalls } from "../protocol/message.ts";
import { resultBlock, resultsMessage } from "../protocol/results.ts";
import type { SessionEntry } from "../protocol/session.ts";
import { errorResult } from "../protocol/tool.ts";

const UNKNOWN_END = "The process ended before the result was known. The call may have taken effect: check before you repeat it.";

export type Rebuilt = {
  history: Message[];
  /** Entries to append to the file, so that it holds what the history holds. */
  added: SessionEntry[];
  notes: string[];
};

/**
 * Entries of a session file into a legal history: results fold into one user message a round, in the order of the calls.
 * Open calls of the last round are answered with an honest error; anything else that does not fit (an orphan result, a call
 * without result in the middle, a message in the wrong place) cuts back to the last complete round, and the cut is named.
 */
export function rebuildHistory(entries: readonly SessionEntry[]): Rebuilt {
  const notes: string[] = [];
  let history: Message[] = [];
  let open: { message: AssistantMessage; results: Map<string, ToolResultBlock> } | undefined;

  for (const entry of entries) {
    switch (entry.type) {
      case "header":
        break;
      case "compaction":
        history = [...entry.history];
        open = undefined;
        break;
      case "message": {
        if (open) {
          notes.push(cutNote(open.message));
          history.pop();
          open = undefined;
        }
        const last = history.at(-1);
        if (entry.message.role === "assistant") {
          if (last?.role !== "user") break;
          history.push(entry.message);
          if (toolCalls(entry.message).length > 0) open = { message: entry.message, results: new Map() };
        } else if (entry.message.content.length > 0) history.push(entry.message);
        break;
      }
      case "tool_result":
        if (open && isCallOf(open.message, entry.result.toolUseId) && !open.results.has(entry.result.toolUseId)) {
          open.results.set(entry.result.toolUseId, entry.result);
        } else notes.push(`Dropped a result without its call (${entry.result.toolUseId}).`);
        break;
      case "round_end": {
        if (!open) break;
        const { message, results } = open;
        open = undefined;
        const ordered = toolCalls(message).flatMap((call) => results.get(call.id) ?? []);
        if (ordered.length === toolCalls(message).length) history.push(resultsMessage(ordered, entry.reminder));
        else {
          notes.push(cutNote(message));
          history.pop();
        }
        break;
      }
    }
  }
  if (!open) return { history, added: [], notes };

  const added: SessionEntry[] = [];
  const at = new Date().toISOString();
  const { message, results } = open;
  const all = toolCalls(message).map((call) => {
    const known = results.get(call.id);
    if (known) return known;
    const result = resultBlock(call, errorResult(UNKNOWN_END));
    added.push({ type: "tool_result", at, result });
    return result;
  });
  added.push({ type: "round_end", at });
  history.push(resultsMessage(all, undefined));
  notes.push(`Answered ${added.length - 1} calls whose end is unknown.`);
  return { history, added, notes };
}

function isCallOf(message: AssistantMessage, id: string): boolean {
  return toolCalls(message).some((call) => call.id === id);
}

function cutNote(message: AssistantMessage): string {
  const names = toolCalls(message).map((call) => call.name);
  return `Cut an incomplete round with the calls ${names.join(", ")}; they may have taken effect.`;
}
