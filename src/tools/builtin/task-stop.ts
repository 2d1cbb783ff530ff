import * as z from "zod";
import { defineTool } from "../../protocol/define-tool.ts";
import { errorResult, type Tool, textResult } from "../../protocol/tool.ts";
import type { ShellState } from "../bash/shell-state.ts";
import { noJob } from "./bash-output.ts";

/**
 * Ends what runs in the background, with everything it started. `stopOther` is for what is no command: it gives the words of how it
 * ended, or undefined for an id that it does not know.
 */
export function taskStopTool(state: ShellState, stopOther?: (id: string) => Promise<string | undefined>): Tool {
  return defineTool({
    name: "TaskStop",
    description: `Ends a background job${stopOther ? " or sub-agent" : ""} with all that it started.`,
    schema: z.object({ task_id: z.string() }),
    access: ({ task_id }) => ({ kind: "other", subject: task_id }),
    async run({ task_id }) {
      const job = state.jobs.get(task_id);
      if (!job) {
        const stopped = await stopOther?.(task_id);
        return stopped === undefined ? errorResult(noJob(task_id, state)) : textResult(stopped);
      }
      if (!(await state.stopJob(task_id))) return textResult(`${task_id} had ended before: ${job.state}.`);
      const text = job.look().trimEnd();
      return textResult(`${text === "" ? "" : `${text}\n`}[${task_id}: ${job.state}]`);
    },
  });
}
