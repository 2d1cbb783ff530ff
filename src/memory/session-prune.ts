import { rmSync } from "node:fs";
import { UserError } from "../protocol/errors.ts";
import { listSessions, type SessionSummary } from "./session-list.ts";
import { lockSession, removeLocks, sessionOwner } from "./session-lock.ts";

/**
 * Sessions of the folder whose last entry is older; none that is open in a process, and none that one which stays was forked
 * from: its large results lie there.
 */
export function oldSessions(folder: string, olderThanMs: number, now: number): SessionSummary[] {
  const sessions = listSessions(folder);
  const parents = new Map(sessions.map(({ id, parent }) => [id, parent]));
  const kept = new Set<string>();
  for (const { id, isRunning, lastAt } of sessions) {
    if (!isRunning && now - Date.parse(lastAt) > olderThanMs) continue;
    for (let one: string | undefined = id; one !== undefined && !kept.has(one); one = parents.get(one)) kept.add(one);
  }
  return sessions.filter(({ id }) => !kept.has(id));
}

/** Removes a session with its large results. False when a process opened it meanwhile. */
export function removeSession(path: string): boolean {
  if (sessionOwner(path)) return false;
  let lock: Disposable;
  try {
    lock = lockSession(path);
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
  rmSync(path, { force: true });
  rmSync(path.replace(/\.jsonl$/, ".results"), { recursive: true, force: true });
  removeLocks(path);
  lock[Symbol.dispose]();
  return true;
}

const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

/** "30d", "12h", "2w" in milliseconds. */
export function readAge(text: string): number {
  const [, count = "", unit = ""] = /^(\d{1,6})([hdw])$/.exec(text) ?? [];
  const factor = UNITS[unit];
  if (factor === undefined) throw new UserError(`--older-than is a number of hours, days or weeks, as 12h, 30d or 8w; not "${text}".`);
  return Number(count) * factor;
}
