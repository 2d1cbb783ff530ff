import type { Message, ToolResultBlock } from "../protocol/message.ts";
import type { SessionEntry } from "../protocol/session.ts";
import { parseLine } from "./entry-line.ts";
import { sessionLines } from "./session-lines.ts";

export type SearchHit = { at: string; who: "user" | "assistant" | "tool"; text: string };

const AROUND = 60;

/** Places in a session where the text stands, whatever its case, in the order of the file: one for each message or result. */
export function* searchSession(path: string, text: string): Generator<SearchHit> {
  const wanted = text.toLowerCase();
  for (const { bytes } of sessionLines(path)) {
    const entry = parseLine(bytes);
    if (!entry) continue;
    for (const { who, text: said } of wordsOf(entry)) {
      const index = said.toLowerCase().indexOf(wanted);
      if (index < 0) continue;
      yield { at: entry.at, who, text: excerpt(said, index, wanted.length) };
      break;
    }
  }
}

function wordsOf(entry: SessionEntry): { who: SearchHit["who"]; text: string }[] {
  if (entry.type === "tool_result") return [{ who: "tool", text: resultWords(entry.result) }];
  if (entry.type === "round_end" && entry.steering !== undefined) return [{ who: "user", text: entry.steering }];
  if (entry.type === "name") return [{ who: "user", text: entry.name }];
  if (entry.type !== "message") return [];
  const { role } = entry.message;
  return blocks(entry.message).map((text) => ({ who: role, text }));
}

function blocks(message: Message): string[] {
  return message.content.flatMap((block) => {
    switch (block.type) {
      case "text":
        return block.text.startsWith("<system-reminder>") ? [] : [block.text];
      case "tool_use":
        return [`${block.name} ${JSON.stringify(block.input)}`];
      case "tool_result":
        return [resultWords(block)];
      case "thinking":
      case "image":
      case "opaque":
        return [];
    }
  });
}

function resultWords(result: ToolResultBlock): string {
  return result.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** The place with something around it, on one line. */
function excerpt(text: string, index: number, length: number): string {
  const from = Math.max(0, index - AROUND);
  const to = Math.min(text.length, index + length + AROUND);
  const part = text.slice(from, to).replace(/\s+/g, " ").trim();
  return `${from > 0 ? "…" : ""}${part}${to < text.length ? "…" : ""}`;
}
