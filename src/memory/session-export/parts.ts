import type { ImageBlock, Message, ToolResultBlock, ToolUseBlock } from "../../protocol/message.ts";
import type { SessionEntry } from "../../protocol/session.ts";

/** What a reader of an exported conversation sees, in its order. */
export type Part =
  | { type: "user" | "assistant" | "thinking" | "reminder" | "note"; text: string }
  | { type: "image"; image: ImageBlock }
  | { type: "call"; call: ToolUseBlock; result: ToolResultBlock | undefined };

/** The whole conversation, what a compaction replaced too. Calls come with their results. */
export function* parts(entries: Iterable<SessionEntry>): Generator<Part> {
  let open: ToolUseBlock[] = [];
  let results = new Map<string, ToolResultBlock>();
  let isEmpty = true;
  const closeRound = function* (): Generator<Part> {
    for (const call of open) yield { type: "call", call, result: results.get(call.id) };
    open = [];
    results = new Map();
  };
  for (const entry of entries) {
    switch (entry.type) {
      case "header":
      case "name":
      case "checkpoint":
      case "spent":
      case "tools_added":
        break;
      case "message":
        yield* closeRound();
        yield* messageParts(entry.message);
        open = callsOf(entry.message);
        isEmpty = false;
        break;
      case "tool_result":
        results.set(entry.result.toolUseId, entry.result);
        break;
      case "round_end":
        yield* closeRound();
        if (entry.reminder) yield { type: "reminder", text: entry.reminder };
        if (entry.steering) yield { type: "user", text: entry.steering };
        break;
      case "compaction":
      case "rewind":
        yield* closeRound();
        // A fork of a compacted session begins so; elsewhere what it holds was shown already.
        if (isEmpty) yield* historyParts(entry.history);
        else
          yield {
            type: "note",
            text: entry.type === "compaction" ? "The conversation was summarised here." : "The conversation went back from here.",
          };
        isEmpty = false;
        break;
    }
  }
  yield* closeRound();
}

/** A history without a file: what a compaction replaced is not in it. */
export function* historyParts(history: readonly Message[]): Generator<Part> {
  const results = new Map<string, ToolResultBlock>();
  for (const message of history) for (const block of message.content) if (block.type === "tool_result") results.set(block.toolUseId, block);
  for (const message of history) {
    yield* messageParts(message);
    for (const call of callsOf(message)) yield { type: "call", call, result: results.get(call.id) };
  }
}

function* messageParts(message: Message): Generator<Part> {
  for (const block of message.content) {
    if (block.type === "image") yield { type: "image", image: block };
    if (block.type === "thinking" && block.text.trim() !== "") yield { type: "thinking", text: block.text };
    if (block.type !== "text" || block.text.trim() === "") continue;
    yield { type: message.role === "user" && block.text.startsWith("<system-reminder>") ? "reminder" : message.role, text: block.text };
  }
}

function callsOf(message: Message): ToolUseBlock[] {
  return message.content.flatMap((block) => (block.type === "tool_use" ? [block] : []));
}

/** A call in one line: its name and what tells it from others. */
export function callTitle(call: ToolUseBlock): string {
  const telling = ["command", "path", "pattern", "description", "subject"]
    .map((key) => call.input[key])
    .find((value) => typeof value === "string");
  const text = typeof telling === "string" ? telling.replace(/\s+/g, " ").trim() : "";
  return text === "" ? call.name : `${call.name}: ${text.length > 100 ? `${text.slice(0, 100)}…` : text}`;
}

export function resultText(result: ToolResultBlock): string {
  return result.content.map((block) => (block.type === "text" ? block.text : "[image]")).join("\n");
}
