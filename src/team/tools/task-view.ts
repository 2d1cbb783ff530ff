import type { TeamTask } from "../../protocol/team.ts";
import { unfinishedBlockers } from "../task-rules.ts";

/** What a model needs of a task in a list: one line of JSON. */
export function taskLine(task: TeamTask, all: readonly TeamTask[]): string {
  const open = unfinishedBlockers(task, all).map((blocker) => blocker.id);
  return JSON.stringify({
    id: task.id,
    status: task.status,
    subject: task.subject,
    owner: task.owner,
    ...(open.length > 0 ? { waitsFor: open } : {}),
    ...(task.attempts > 1 ? { attempts: task.attempts } : {}),
  });
}

/** The same for a person. */
export function taskText({ id, subject, status, owner }: Pick<TeamTask, "id" | "subject" | "status" | "owner">): string {
  return `Task ${id} ${status}${owner === undefined ? "" : ` (${owner})`}: ${subject}`;
}

/** All of a task, with what it waits for and what waits for it. */
export function taskDetails(task: TeamTask, all: readonly TeamTask[]): string {
  const { claim, spent, ...rest } = task;
  return JSON.stringify(
    {
      ...rest,
      waitsFor: unfinishedBlockers(task, all).map((blocker) => blocker.id),
      blocks: all.filter((other) => other.blockedBy.includes(task.id)).map((other) => other.id),
    },
    undefined,
    1,
  );
}
