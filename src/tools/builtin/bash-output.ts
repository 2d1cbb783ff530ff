import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { defineTool } from "../../protocol/define-tool.ts";
import { errorResult, type Tool, textResult } from "../../protocol/tool.ts";
import type { ShellState } from "../bash/shell-state.ts";

const MAX_WAIT_MS = 600_000;

const schema = z.object({
  job_id: z.string(),
  wait: z.int().min(0).max(MAX_WAIT_MS).optional().describe("Milliseconds to wait for its end first."),
});

/** What a job in the background printed since the last look. */
export function bashOutputTool(state: ShellState): Tool {
  return defineTool({
    name: "BashOutput",
    description: "New output of a background job since the last look, and whether it runs or how it ended.",
    schema,
    access: ({ job_id }) => ({ kind: "other", subject: job_id }),
    async run({ job_id, wait = 0 }, { signal }) {
      const job = state.jobs.get(job_id);
      if (!job) return errorResult(noJob(job_id, state));
      if (wait > 0) await waitFor(job.over, wait, signal);
      // The state first: what it prints before its end is in the look.
      const { state: how } = job;
      const text = job.look().trimEnd();
      return textResult(`${text === "" ? "(no new output)" : text}\n[${job_id}: ${how}]`);
    },
  });
}

export function noJob(id: string, { jobs }: ShellState): string {
  return `There is no job "${id}". ${jobs.size === 0 ? "None was started." : `Jobs: ${[...jobs.keys()].join(", ")}.`}`;
}

async function waitFor(end: Promise<void>, waitMs: number, signal: AbortSignal): Promise<void> {
  const enough = new AbortController();
  const timer = sleep(waitMs, undefined, { signal: AbortSignal.any([signal, enough.signal]) }).catch(() => undefined);
  await Promise.race([end, timer]);
  enough.abort();
}
