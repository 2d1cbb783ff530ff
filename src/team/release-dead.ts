import { RevisionConflict } from "../protocol/errors.ts";
import type { TaskList, TeamTask } from "../protocol/team.ts";

/**
 * What dead members had in progress goes back to the list, one attempt on, with a note for the next owner. Safe to call from
 * several processes at once: each task is released once. Returns what was released.
 */
export async function releaseDead(
  tasks: TaskList,
  isAlive: (claim: NonNullable<TeamTask["claim"]>) => boolean,
  describe: (task: TeamTask) => Promise<string> = async () => "",
): Promise<TeamTask[]> {
  const released: TeamTask[] = [];
  for (const task of await tasks.list()) {
    if (task.status !== "in_progress" || !task.claim || isAlive(task.claim)) continue;
    const left = await describe(task);
    const note = `${task.claim.owner} ended while working on this (attempt ${task.attempts}).${left ? ` ${left}` : ""}`;
    try {
      released.push(
        await tasks.update(task.id, task.revision, {
          status: "pending",
          owner: undefined,
          claim: undefined,
          attempts: task.attempts + 1,
          note: task.note ? `${task.note}\n${note}` : note,
        }),
      );
    } catch (error) {
      // Someone else released it, or took it over.
      if (!(error instanceof RevisionConflict)) throw error;
    }
  }
  return released;
}
