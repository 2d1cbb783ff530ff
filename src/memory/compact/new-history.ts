import type { Message, TextBlock, UserMessage } from "../../protocol/message.ts";
import { escapeSystemTags } from "../../protocol/system-tags.ts";

/** What a person or a teammate wrote; mail carries tags of its own that say whose it is. */
export type Words = { text: string; isMail: boolean };
export type FileContent = { path: string; text: string };
export type Parts = {
  /** Reminders as they are now, with or without their tags. */
  preserved: readonly string[];
  words: readonly Words[];
  leftOutWords: number;
  /** Empty when no model could write one. */
  summary: string;
  /** What is missing without a summary. */
  note?: string | undefined;
  rounds: string;
  files: readonly FileContent[];
  /** Of other files that were touched. */
  paths: readonly string[];
  next: string;
};
export type EarlierParts = { words: Words[]; summary: string; rounds: string; paths: string[] };

const OPENING =
  "<system-reminder>\nThis conversation was longer and was compacted. This message holds what was kept: instructions as they are now, the user's words, a summary, the last rounds as text, files as they are now.";
const PATHS = "Other files that were read or changed: ";

/**
 * One user message, whatever was in the conversation: legal in every protocol by construction, without a call that could lose
 * its result, and without thinking, which current models refuse once anything before it has changed. Each part has a block of
 * its own, so that the next compaction finds it again.
 */
export function newHistory(parts: Parts): Message[] {
  const { preserved, words, leftOutWords, summary, note, rounds, files, paths, next } = parts;
  const reminders = preserved.map(withoutTags).filter((text) => text !== "");
  const blocks = [
    `${[OPENING, ...reminders].join("\n\n")}\n</system-reminder>`,
    ...(leftOutWords > 0 ? [`(${leftOutWords} older messages of the user are not repeated here.)`] : []),
    ...words.map(({ text, isMail }) => (isMail ? text : tagged("user-words", text))),
    ...(note ? [note] : []),
    ...(summary ? [tagged("conversation-summary", escapeSystemTags(summary))] : []),
    ...(rounds ? [tagged("last-rounds", rounds)] : []),
    ...files.map(({ path, text }) => `<file-content path="${attribute(path)}">\n${text}\n</file-content>`),
    ...(paths.length > 0 ? [`${PATHS}${JSON.stringify(paths)}`] : []),
    next,
  ];
  return [{ role: "user", content: blocks.map((text) => ({ type: "text", text })) }];
}

/** What an earlier compaction put into its message; undefined for every other message. */
export function earlierParts(message: UserMessage): EarlierParts | undefined {
  const texts = message.content.filter((block): block is TextBlock => block.type === "text").map((block) => block.text);
  if (!texts[0]?.startsWith(OPENING)) return undefined;
  const parts: EarlierParts = { words: [], summary: "", rounds: "", paths: [] };
  for (const text of texts.slice(1)) {
    const words = inner("user-words", text);
    if (words !== undefined) parts.words.push({ text: words, isMail: false });
    else if (/^<(teammate-message|task-notification)\b/.test(text)) parts.words.push({ text, isMail: true });
    parts.summary = inner("conversation-summary", text) ?? parts.summary;
    parts.rounds = inner("last-rounds", text) ?? parts.rounds;
    const path = /^<file-content path="([^"]*)">/.exec(text)?.[1];
    if (path !== undefined) parts.paths.push(path.replaceAll("&quot;", '"').replaceAll("&lt;", "<"));
    if (text.startsWith(PATHS)) parts.paths.push(...pathList(text.slice(PATHS.length)));
  }
  return parts;
}

function tagged(tag: string, text: string): string {
  return `<${tag}>\n${text}\n</${tag}>`;
}

function inner(tag: string, text: string): string | undefined {
  const [open, close] = [`<${tag}>\n`, `\n</${tag}>`];
  return text.startsWith(open) && text.endsWith(close) ? text.slice(open.length, -close.length) : undefined;
}

/** Several reminders become one. */
function withoutTags(text: string): string {
  return escapeSystemTags(text.replace(/<\/?system-reminder>/gi, "")).trim();
}

function attribute(path: string): string {
  return path.replaceAll("<", "&lt;").replaceAll('"', "&quot;").replace(/\s+/g, " ");
}

function pathList(json: string): string[] {
  try {
    const value: unknown = JSON.parse(json);
    return Array.isArray(value) ? value.filter((path): path is string => typeof path === "string") : [];
  } catch {
    // Someone's words that begin alike.
    return [];
  }
}
