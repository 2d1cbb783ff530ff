import type { AgentState, TeamTask } from "../protocol/team.ts";
import { claimable, unfinishedBlockers } from "./task-rules.ts";

const GONE: readonly AgentState["status"][] = ["stopped", "failed", "dead"];

/**
 * Why work is left when nobody works: what is free, and for each other open task the chain that it waits at, down to the task that
 * somebody must do something about. One text for the same stall, so that who said it once need not say it again.
 */
export function stallText(tasks: readonly TeamTask[], states: readonly AgentState[]): string {
  const open = tasks.filter((task) => task.status === "pending" || task.status === "in_progress");
  if (open.length === 0) return "All tasks are done.";
  const free = claimable(tasks).map((task) => task.id);
  const held = open.filter((task) => !free.includes(task.id)).map((task) => `${chainOf(task, tasks, states)}.`);
  return [
    `Open tasks: ${open.map((task) => `${task.id} (${task.status})`).join(", ")}.`,
    ...(free.length > 0 ? [`Free to claim: ${free.join(", ")}; assign or message someone.`] : []),
    ...held,
  ].join(" ");
}

/** "3 waits for 2, which waits for 1, which failed". The first way down is enough: each of the others has a line of its own. */
function chainOf(task: TeamTask, tasks: readonly TeamTask[], states: readonly AgentState[]): string {
  const [blocker] = unfinishedBlockers(task, tasks);
  if (!blocker) return `${task.id} ${standing(task, states)}`;
  const parts = [`${task.id} waits for ${blocker.id}`];
  const seen = new Set([task.id, blocker.id]);
  let at = blocker;
  for (;;) {
    const [next] = unfinishedBlockers(at, tasks);
    if (!next) break;
    parts.push(`which waits for ${next.id}`);
    // Circles are refused; one that was written and not yet taken back stays when its writer is killed.
    if (seen.has(next.id)) return `${parts.join(", ")}: a circle (cancel one of them, and create it again without what it waits for)`;
    seen.add(next.id);
    at = next;
  }
  return `${parts.join(", ")}, which ${standing(at, states)}`;
}

function standing({ status, owner }: TeamTask, states: readonly AgentState[]): string {
  if (status === "failed") return "failed (set it to pending, or cancel it)";
  if (owner === undefined) return "is free to claim";
  const state = states.find((one) => one.name === owner)?.status;
  const isGone = state === undefined || GONE.includes(state);
  const how = isGone ? `${owner}, who is ${state ?? "not in the team"}` : `${owner}, who is ${state}`;
  return `is ${status} and belongs to ${how}${isGone ? " (give it to another)" : " (write to them)"}`;
}
