import { type AssistantMessage, type ImageBlock, type Message, messageText, toolCalls, type UserMessage } from "../../protocol/message.ts";
import { escapeSystemTags } from "../../protocol/system-tags.ts";
import { cutMiddle } from "../cut.ts";
import { earlierParts, type Words } from "./new-history.ts";

/** A round (an assistant's message and its results) or a user's message, as text. */
export type Unit = { text: string; isRound: boolean };
type Cuts = { user: number; result: number };

const LEADING_REMINDERS = /^(\s*<system-reminder>[\s\S]*?<\/system-reminder>)+\s*/;
const MAIL = /^<(teammate-message|task-notification)\b/;

/** All users' words of a conversation in their order, those that an earlier compaction kept included; images as notes. */
export function userWords(history: readonly Message[]): Words[] {
  return history.flatMap((message) => {
    if (message.role === "assistant") return [];
    const earlier = earlierParts(message);
    return earlier ? earlier.words : wordsOf(message);
  });
}

function wordsOf(message: UserMessage): Words[] {
  const parts = message.content.flatMap((block) => {
    if (block.type === "tool_result") return [];
    if (block.type === "image") return [imageNote(block)];
    const text = block.text.replace(LEADING_REMINDERS, "");
    return text.trim() === "" ? [] : [text];
  });
  const text = parts.join("\n\n");
  return text === "" ? [] : [{ text, isMail: MAIL.test(text) }];
}

/** For a request without tools and images, and for what stays word for word. Nothing in it can pass for the system's voice. */
export function unitsOf(history: readonly Message[], cuts: Cuts): Unit[] {
  const units: Unit[] = [];
  let open: AssistantMessage | undefined;
  const close = (results: UserMessage | undefined) => {
    if (open) units.push({ text: escapeSystemTags(roundText(open, results, cuts)), isRound: true });
    open = undefined;
  };
  for (const message of history) {
    if (message.role === "assistant") {
      close(undefined);
      open = message;
      continue;
    }
    const earlier = earlierParts(message);
    const hasResults = message.content.some((block) => block.type === "tool_result");
    close(hasResults ? message : undefined);
    for (const { text } of earlier?.words ?? wordsOf(message))
      units.push({ text: escapeSystemTags(`User: ${cutMiddle(text, cuts.user)}`), isRound: false });
    if (earlier?.rounds) units.push({ text: earlier.rounds, isRound: true });
  }
  close(undefined);
  return units;
}

function roundText(message: AssistantMessage, results: UserMessage | undefined, cuts: Cuts): string {
  const lines: string[] = [];
  const said = messageText(message).trim();
  if (said !== "") lines.push(`Assistant: ${cutMiddle(said, Math.max(cuts.user, cuts.result))}`);
  for (const call of toolCalls(message)) {
    lines.push(`Call: ${call.name} ${cutMiddle(JSON.stringify(call.input), cuts.result)}`);
    const result = results?.content.find((block) => block.type === "tool_result" && block.toolUseId === call.id);
    if (result?.type !== "tool_result") continue;
    const path = typeof call.input.path === "string" ? call.input.path : undefined;
    // Each part is cut by itself: a reminder or mail behind a large output stays readable.
    const parts = result.content.map((part) => (part.type === "image" ? imageNote(part, path) : cutMiddle(part.text, cuts.result)));
    lines.push(`${result.isError ? "Error" : "Result"}: ${parts.join("\n")}`);
  }
  return lines.join("\n");
}

function imageNote({ mediaType, data }: ImageBlock, path?: string): string {
  const kilobytes = Math.ceil((data.length * 3) / 4 / 1000);
  return `[image, ${mediaType}, ${kilobytes} kB${path ? `, of ${path}` : ""}: no longer in the conversation]`;
}
