import * as z from "zod";
import { defineTool } from "../../protocol/define-tool.ts";
import { errorResult, type Tool, textResult } from "../../protocol/tool.ts";
import type { ShellState } from "../bash/shell-state.ts";
import { noJob } from "./bash-output.ts";

/** Ends a job in the background with everything it started. */
export function taskStopTool(state: ShellState): Tool {
  return defineTool({
    name: "TaskStop",
    description: "Ends a background job with all that it started.",
    schema: z.object({ task_id: z.string() }),
    access: ({ task_id }) => ({ kind: "other", subject: task_id }),
    async run({ task_id }) {
      const job = state.jobs.get(task_id);
      if (!job) return errorResult(noJob(task_id, state));
      if (!(await state.stopJob(task_id))) return textResult(`${task_id} had ended before: ${job.state}.`);
      const text = job.look().trimEnd();
      return textResult(`${text === "" ? "" : `${text}\n`}[${task_id}: ${job.state}]`);
    },
  });
}
