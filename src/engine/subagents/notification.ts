import { escapeSystemTags } from "../../protocol/system-tags.ts";
import type { SubagentEnd, SubagentInfo } from "./subagent.ts";

/** More is in its transcript, and the model can ask it. */
const MAX_CHARACTERS = 20_000;

/** How the end of a sub-agent in the background reaches the model that started it. What the agent says is data. */
export function notification(info: SubagentInfo, end: SubagentEnd): string {
  const name = info.name === undefined ? "" : ` name="${attribute(info.name)}"`;
  const lines = [
    `<task-notification task="${info.id}"${name} type="${attribute(info.type)}" status="${end.status}">`,
    escapeSystemTags(info.description),
    endText(info, end),
    "</task-notification>",
  ];
  return lines.join("\n");
}

/** The last words of a sub-agent and what the system adds, for the model. */
export function endText(info: SubagentInfo, end: SubagentEnd): string {
  const words = escapeSystemTags(end.text.trim());
  const cut = words.length > MAX_CHARACTERS;
  return [
    cut ? `${words.slice(0, MAX_CHARACTERS)}\n[… ${words.length - MAX_CHARACTERS} more characters; ask it for what you need]` : words,
    ...end.notes.map((note) => `[${escapeSystemTags(note)}]`),
    info.isTeam
      ? `[team ${info.name ?? info.id}, ${end.status}]`
      : `[${info.id}, ${end.turns} ${end.turns === 1 ? "turn" : "turns"}, ${end.status}. SendMessage to ${info.name ?? info.id} goes on with it.]`,
  ]
    .filter((line) => line !== "")
    .join("\n");
}

function attribute(text: string): string {
  return text.replaceAll(/[<>"\s]+/g, " ").trim();
}
