import type { TeamTask } from "../../../protocol/team.ts";
import type { Revisions } from "../revisions.ts";
import { TeamTaskSchema } from "../schemas.ts";
import { isTaskId, type TaskRecords } from "../task-list.ts";
import type { TeamLayout } from "./layout.ts";
import { namesIn, openRevisions } from "./revisions.ts";

export function openTaskRecords(layout: TeamLayout): TaskRecords {
  const opened = new Map<string, Revisions<TeamTask>>();
  function record(id: string): Revisions<TeamTask> {
    const known = opened.get(id);
    if (known) return known;
    const made = openRevisions({ folder: layout.task(id), what: `Task ${id}`, schema: TeamTaskSchema, sync: true });
    opened.set(id, made);
    return made;
  }
  return {
    record,
    async all() {
      const ids = (await namesIn(layout.tasks)).filter(isTaskId).sort((a, b) => Number(a) - Number(b));
      const tasks = await Promise.all(ids.map((id) => record(id).latest()));
      return tasks.flatMap((task) => task ?? []);
    },
    /** Of the tasks that have a first revision: a folder alone is a creator that is still at work, or died. */
    async highestId() {
      const ids = (await namesIn(layout.tasks)).filter(isTaskId).map(Number);
      for (const id of ids.sort((a, b) => b - a)) {
        if ((await namesIn(layout.task(String(id)))).includes("1.json")) return id;
      }
      return 0;
    },
  };
}
