import { existsSync } from "node:fs";
import type { SubagentEnd } from "../engine/subagents/subagent.ts";
import { loadSession } from "../memory/load-session.ts";
import { readHeader } from "../memory/session-head.ts";
import { isErrno } from "../platform/files.ts";
import { messageText } from "../protocol/message.ts";
import type { SubagentRecord } from "./subagent-records.ts";
import { leaveWorktree } from "./subagent-worktree.ts";
import type { Surroundings } from "./surroundings.ts";

/** The end of a sub-agent whose process was killed: its last words, and its worktree left as one that ends leaves it. */
export async function endOfCut(record: SubagentRecord, sessionPath: string, surroundings: Surroundings): Promise<SubagentEnd> {
  const words = wordsOf(sessionPath);
  const notes = [
    "The process that it ran in has ended before it was done; nothing of it runs any more",
    ...(words === undefined ? ["It had not begun"] : []),
    ...(await placeOf(record, surroundings)),
  ];
  return { status: "stopped", text: words?.text ?? "", notes, turns: words?.turns ?? 0 };
}

function wordsOf(sessionPath: string): { text: string; turns: number } | undefined {
  // A kill while it was made, or a power cut, leaves a file without a whole first line.
  if (!readHeader(sessionPath)) return undefined;
  const { history } = loadSession(sessionPath).loaded;
  const own = history.filter((message) => message.role === "assistant" && message.provider !== "");
  return { text: own.map(messageText).findLast((text) => text !== "") ?? "", turns: own.length };
}

async function placeOf({ id, description, worktree }: SubagentRecord, surroundings: Surroundings): Promise<string[]> {
  if (!worktree) return [];
  if (!existsSync(worktree.path)) return [`Its worktree ${worktree.path} is gone; what it committed is on the branch ${worktree.branch}`];
  try {
    return await leaveWorktree(surroundings, worktree, description, id);
  } catch (error) {
    if (isErrno(error, "ENOENT")) return [`Its worktree ${worktree.path} is gone`];
    return [`Its worktree ${worktree.path} stays as it is: ${error instanceof Error ? error.message : String(error)}`];
  }
}
