import type { Message } from "../protocol/message.ts";
import type { SessionEntry } from "../protocol/session.ts";
import { allEntries } from "./load-session.ts";
import { rebuildHistory } from "./repair.ts";

/** One message of the person that can be gone back to. */
export type Turn = { turn: number; at: string; text: string };

/** Oldest first; those that were gone back over are not there any more. */
export function listTurns(path: string): Turn[] {
  let turns: Turn[] = [];
  for (const entry of allEntries(path)) {
    const { type } = entry;
    if (type === "rewind" && entry.turn !== undefined) turns = turns.filter(({ turn }) => turn < (entry.turn ?? 0));
    if (type !== "message" || entry.turn === undefined) continue;
    turns.push({ turn: entry.turn, at: entry.at, text: wordsOf(entry.message) });
  }
  return turns;
}

/** What the conversation was before this turn, before a compaction since then too; undefined when there is no such turn. */
export function historyBefore(path: string, turn: number): Message[] | undefined {
  let found = false;
  const before: SessionEntry[] = [];
  let last: SessionEntry[] = [];
  for (const entry of allEntries(path)) {
    // The number is given anew after a step back: the last one counts.
    if (entry.type === "message" && entry.turn === turn) {
      found = true;
      last = [...before];
    }
    if (entry.type === "compaction" || entry.type === "rewind") before.length = 0;
    before.push(entry);
  }
  return found ? rebuildHistory(last).history : undefined;
}

function wordsOf({ content }: Message): string {
  const words = content.flatMap((block) =>
    block.type === "text" && !block.text.startsWith("<system-reminder>") ? [block.text] : block.type === "image" ? ["[image]"] : [],
  );
  return words.join(" ").replaceAll(/\s+/g, " ").trim();
}
