import * as z from "zod";
import { defineTool } from "../../protocol/define-tool.ts";
import type { TaskList } from "../../protocol/team.ts";
import { errorResult, type Tool, textResult } from "../../protocol/tool.ts";
import { taskDetails } from "./task-view.ts";

const schema = z.strictObject({ taskId: z.string().describe("The task's id, as TaskCreate and TaskList give it.") });

export function taskGetTool({ tasks }: { tasks: TaskList }): Tool {
  return defineTool({
    name: "TaskGet",
    description: [
      "Everything about one task as JSON: description, status, owner, check command, notes of earlier attempts, what it waits for (waitsFor) and what waits for it (blocks).",
      "Read a task before you claim it: a note may tell where an earlier owner left work.",
    ].join("\n"),
    schema,
    access: (input) => ({ kind: "other", subject: input.taskId }),
    isConcurrencySafe: () => true,
    async run({ taskId }) {
      const all = await tasks.list();
      const task = all.find((one) => one.id === taskId);
      if (task) return textResult(taskDetails(task, all));
      return errorResult(`There is no task ${taskId}. Tasks: ${all.map((one) => one.id).join(", ") || "none yet"}.`);
    },
  });
}
