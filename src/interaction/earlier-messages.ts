import { earlierParts } from "../memory/compact/new-history.ts";
import { historyParts, type Part } from "../memory/session-export/parts.ts";
import type { Message } from "../protocol/message.ts";

/** So many show where one is. */
const SHOWN = 6;

/** `hidden`: how many messages stand before the parts. */
export type Earlier = { hidden: number; parts: readonly Part[] };

/** The end of a conversation that is gone on with, as the person saw it: what the system added is no part of it. */
export function earlierMessages(history: readonly Message[]): Earlier {
  const [first, ...rest] = history;
  const compacted = first?.role === "user" ? earlierParts(first) : undefined;
  const all: Part[] = compacted
    ? [
        ...compacted.words.flatMap(({ text, isMail }): Part[] => (isMail ? [] : [{ type: "user", text }])),
        { type: "note", text: "The conversation before this was summarised." },
        ...historyParts(rest),
      ]
    : [...historyParts(history)];
  const seen = all.filter(
    (part) => part.type !== "reminder" && part.type !== "thinking" && !(part.type === "user" && ADDED.test(part.text)),
  );
  const messages = seen.flatMap(({ type }, index) => (type === "user" || type === "assistant" ? [index] : []));
  const hidden = Math.max(0, messages.length - SHOWN);
  return { hidden, parts: seen.slice(hidden === 0 ? 0 : messages[hidden]) };
}

/** What came with the person's words, or in their place. */
const ADDED = /^<(?:task-notification|teammate-message|file-content)\b/;
