import { RevisionConflict } from "../../protocol/errors.ts";
import type { ProcessIdentity, TaskList, TaskPatch, TeamTask } from "../../protocol/team.ts";
import { changedTask, checkEdges, newTask, TaskRuleError } from "../task-rules.ts";
import type { Revisions } from "./revisions.ts";

/** Where a bus keeps its tasks: one record with revisions for each id. */
export type TaskRecords = {
  record(id: string): Revisions<TeamTask>;
  /** The newest revision of each, in the order of their ids. */
  all(): Promise<TeamTask[]>;
  /** The highest that was ever given to a task; 0 for none. */
  highestId(): Promise<number>;
};

/** The task list of every bus whose records are changed by compare-and-set. */
export function taskList({ record, all: everyTask, highestId }: TaskRecords, isAlive: (identity: ProcessIdentity) => boolean): TaskList {
  async function list(): Promise<TeamTask[]> {
    return onePerKey(await everyTask());
  }

  async function get(id: string): Promise<TeamTask | undefined> {
    if (!isTaskId(id)) return undefined;
    const task = await record(id).latest();
    return task?.key === undefined ? task : (await list()).find((one) => one.id === id);
  }

  async function update(id: string, revision: number, patch: TaskPatch): Promise<TeamTask> {
    const all = await list();
    const task = all.find((one) => one.id === id);
    if (!task) throw new TaskRuleError(`There is no task ${id}.`);
    if (task.revision !== revision) throw new RevisionConflict(`Task ${id}`, task.revision);
    const next = changedTask(task, patch, { all, isAlive });
    await record(id).add(next);
    if (patch.blockedBy) await undoIfCircle(task, next);
    return next;
  }

  /** Two edges in two tasks that together close a circle conflict in no revision: so whoever wrote looks once more. */
  async function undoIfCircle(before: TeamTask, written: TeamTask): Promise<void> {
    try {
      checkEdges(written.id, written.blockedBy, await list());
    } catch (error) {
      for (let now: TeamTask | undefined = written; now; now = await get(written.id)) {
        try {
          await record(now.id).add({ ...now, blockedBy: before.blockedBy, revision: now.revision + 1 });
          break;
        } catch (conflict) {
          if (!(conflict instanceof RevisionConflict)) throw conflict;
        }
      }
      throw error;
    }
  }

  return {
    list,
    get,
    update,
    async create(task) {
      for (;;) {
        const all = await list();
        const same = task.key === undefined ? undefined : all.find((one) => one.key === task.key);
        if (same) return same;
        const made = newTask(String((await highestId()) + 1), task, all);
        try {
          await record(made.id).add(made);
        } catch (error) {
          // Another creator has that id: the next one.
          if (error instanceof RevisionConflict) continue;
          throw error;
        }
        if (made.key === undefined) return made;
        return (await list()).find((one) => one.key === made.key) ?? made;
      }
    },
  };
}

/**
 * Two who create the same key at once both get an id, since ids go without gaps the lower one was there first. It is the task;
 * the other is as if it had never been.
 */
function onePerKey(tasks: readonly TeamTask[]): TeamTask[] {
  const keys = new Set<string>();
  return tasks.filter((task) => {
    if (task.key === undefined) return true;
    if (keys.has(task.key)) return false;
    keys.add(task.key);
    return true;
  });
}

export function isTaskId(text: string): boolean {
  return /^[1-9]\d{0,8}$/.test(text);
}
