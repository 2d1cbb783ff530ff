import type { TeamTask } from "../protocol/team.ts";
import { unfinishedBlockers } from "../team/task-rules.ts";

/** What it works on, or what it is to do next and waits with. */
export function taskText(tasks: readonly TeamTask[], self: string): string | undefined {
  const own = tasks.filter(({ owner }) => owner === self);
  const now = own.find(({ status }) => status === "in_progress");
  if (now) return `task ${now.id}: ${now.subject}`;
  const next = own.find(({ status }) => status === "pending");
  const blockers = next ? unfinishedBlockers(next, tasks).map(({ id }) => id) : [];
  return next && `task ${next.id} next: ${next.subject}${blockers.length > 0 ? ` (after ${blockers.join(", ")})` : ""}`;
}
