import * as z from "zod";
import { defineTool } from "../../protocol/define-tool.ts";
import type { TaskList } from "../../protocol/team.ts";
import { type Tool, textResult } from "../../protocol/tool.ts";
import { taskLine, taskText } from "./task-view.ts";

type Options = {
  tasks: TaskList;
  /** A line about mail that members have not read, if there is any. */
  unread?: () => Promise<string | undefined>;
};

export function taskListTool({ tasks, unread }: Options): Tool {
  return defineTool({
    name: "TaskList",
    description: [
      "All tasks of the shared list, one line of JSON each: id, status (pending, in_progress, completed, failed, cancelled), subject, owner, and waitsFor: the unfinished tasks that block it.",
      "A task is free to claim when it is pending, has no owner and no waitsFor. Look here when you have finished something, before you take the next; TaskGet has the description.",
    ].join("\n"),
    schema: z.strictObject({}),
    access: () => ({ kind: "other", subject: "" }),
    isConcurrencySafe: () => true,
    async run() {
      const all = await tasks.list();
      const line = await unread?.();
      const more = line === undefined ? [] : [line];
      const lines = all.length === 0 ? ["There are no tasks yet."] : all.map((task) => taskLine(task, all));
      return textResult([...lines, ...more].join("\n"), { type: "text", text: [...all.map(taskText), ...more].join("\n") });
    },
  });
}
