import { escapeSystemTags } from "../../protocol/system-tags.ts";
import type { TeamTask } from "../../protocol/team.ts";
import { unfinishedBlockers } from "../task-rules.ts";

const MOST_AT_START = 20;

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

/** What whoever works on it must know beside its line. */
export function taskJob({ description, check, note }: TeamTask): string[] {
  return [...(description ? [description] : []), ...(check ? [`Its check: ${check}`] : []), ...(note ? [`Notes: ${note}`] : [])];
}

/** For a member's first message: what it may take, so that it need not ask for the list first. Undefined when that is nothing. */
export function listAtStart(all: readonly TeamTask[], self: string): string | undefined {
  const open = all.filter(({ status, owner }) => status === "pending" && (owner === undefined || owner === self));
  if (open.length === 0) return undefined;
  const more = open.length > MOST_AT_START ? [`and ${open.length - MOST_AT_START} more: see TaskList`] : [];
  const lines = [...open.slice(0, MOST_AT_START).map((task) => taskLine(task, all)), ...more];
  return `<system-reminder>\nOpen tasks as you start, as TaskList shows them:\n${escapeSystemTags(lines.join("\n"))}\n</system-reminder>`;
}

/** A task in a list for a person. */
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
