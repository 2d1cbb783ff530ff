import { readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { UserError } from "../protocol/errors.ts";
import { listSessions, type SessionSummary } from "./session-list.ts";
import { lockSession, sessionOwner } from "./session-lock.ts";

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
  removeSnapshots(path);
  for (const ending of [".results", ".agents", ".plan.md"]) rmSync(path.replace(/\.jsonl$/, ending), { recursive: true, force: true });
  lock[Symbol.dispose]();
  return true;
}

/** Its index of the snapshots; the store goes with the last session of the project, since what it holds is shared. */
function removeSnapshots(path: string): void {
  const folder = dirname(path);
  const store = join(dirname(folder), "checkpoints.git");
  const index = join(store, `index-${basename(path, ".jsonl")}`);
  for (const ending of ["", ".modes.json", ".lock"]) rmSync(`${index}${ending}`, { force: true });
  if (!readdirSync(folder).some((name) => name.endsWith(".jsonl"))) rmSync(store, { recursive: true, force: true });
}

const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

/** "30d", "12h", "2w" in milliseconds. */
export function readAge(text: string): number {
  const [, count = "", unit = ""] = /^(\d{1,6})([hdw])$/.exec(text) ?? [];
  const factor = UNITS[unit];
  if (factor === undefined) throw new UserError(`--older-than is a number of hours, days or weeks, as 12h, 30d or 8w; not "${text}".`);
  return Number(count) * factor;
}
