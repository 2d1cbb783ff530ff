import * as z from "zod";
import { defineTool } from "../../protocol/define-tool.ts";
import type { TaskList, TeamTask } from "../../protocol/team.ts";
import { errorResult, type Tool, textResult } from "../../protocol/tool.ts";
import { TaskRuleError } from "../task-rules.ts";
import { taskText } from "./task-view.ts";

const schema = z.strictObject({
  subject: z.string().trim().min(1).describe("One line that says what is done when the task is done."),
  description: z
    .string()
    .describe("What to do and where, which files it may touch, how to tell that it is done, and for each blockedBy the reason."),
  blockedBy: z.array(z.string()).optional().describe("Ids of tasks that must be completed before this one can begin."),
  check: z.string().optional().describe("A shell command that must exit 0 before the task counts as completed."),
  key: z
    .string()
    .optional()
    .describe("A name of your choice: creating again with the same key gives the task that is there, not a second one."),
});

type Options = { tasks: TaskList; onCreate?: (task: TeamTask) => void | Promise<void> };

export function taskCreateTool({ tasks, onCreate }: Options): Tool {
  return defineTool({
    name: "TaskCreate",
    description: [
      "Adds a task to the shared list. Use it for work that must be tracked to its end; what others only need to know is a message (SendMessage).",
      "A task is one piece that one member can do alone, best with files of its own. Tasks that touch the same file form a chain by blockedBy.",
      "The task starts as pending and without an owner: members claim it themselves, or the lead assigns it with TaskUpdate.",
      "Answers with JSON that has the task's id. The blockedBy ids must exist already: create what comes first, first.",
    ].join("\n"),
    schema,
    access: (input) => ({ kind: "other", subject: input.subject }),
    async run({ blockedBy = [], ...input }) {
      try {
        const before = await tasks.list();
        const task = await tasks.create({ ...input, blockedBy });
        const isNew = !before.some((one) => one.id === task.id);
        if (isNew) await onCreate?.(task);
        const { id, subject, status } = task;
        const note = isNew ? {} : { note: "It was there already, by its key." };
        const text = JSON.stringify({ id, subject, status, blockedBy: task.blockedBy, ...note });
        return textResult(text, { type: "text", text: taskText(task) });
      } catch (error) {
        if (error instanceof TaskRuleError) return errorResult(`${error.message} No task was created.`);
        throw error;
      }
    },
  });
}
