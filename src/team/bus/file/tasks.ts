import { RevisionConflict } from "../../../protocol/errors.ts";
import type { ProcessIdentity, TaskList, TaskPatch, TeamTask } from "../../../protocol/team.ts";
import { changedTask, checkEdges, newTask, TaskRuleError } from "../../task-rules.ts";
import { TeamTaskSchema } from "../schemas.ts";
import type { TeamLayout } from "./layout.ts";
import { namesIn, openRevisions, type Revisions } from "./revisions.ts";

export function openTasks(layout: TeamLayout, isAlive: (identity: ProcessIdentity) => boolean): TaskList {
  const opened = new Map<string, Revisions<TeamTask>>();
  function record(id: string): Revisions<TeamTask> {
    const known = opened.get(id);
    if (known) return known;
    const made = openRevisions({ folder: layout.task(id), what: `Task ${id}`, schema: TeamTaskSchema, sync: true });
    opened.set(id, made);
    return made;
  }

  async function list(): Promise<TeamTask[]> {
    const ids = (await namesIn(layout.tasks)).filter(isTaskId).sort((a, b) => Number(a) - Number(b));
    const tasks = await Promise.all(ids.map((id) => record(id).latest()));
    return onePerKey(tasks.flatMap((task) => task ?? []));
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
        const made = newTask(String((await highestId(layout)) + 1), task, all);
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

/** Of the tasks that have a first revision: a folder alone is a creator that is still at work, or died. */
async function highestId(layout: TeamLayout): Promise<number> {
  const ids = (await namesIn(layout.tasks)).filter(isTaskId).map(Number);
  for (const id of ids.sort((a, b) => b - a)) {
    if ((await namesIn(layout.task(String(id)))).includes("1.json")) return id;
  }
  return 0;
}

function isTaskId(text: string): boolean {
  return /^[1-9]\d{0,8}$/.test(text);
}
