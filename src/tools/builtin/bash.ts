import { join } from "node:path";
import * as z from "zod";
import { defineTool } from "../../protocol/define-tool.ts";
import { errorResult, type Tool, textResult } from "../../protocol/tool.ts";
import type { BashOptions } from "../bash/bash-options.ts";
import type { ShellState } from "../bash/shell-state.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;

const schema = (defaultTimeoutMs: number) =>
  z.object({
    command: z.string().min(1).describe("Command line for bash."),
    timeout: z
      .int()
      .min(1)
      .max(MAX_TIMEOUT_MS)
      .optional()
      .describe(`Milliseconds until it is stopped; ${defaultTimeoutMs} unless given, at most ${MAX_TIMEOUT_MS}.`),
    description: z.string().optional().describe("What it does, in a few words."),
    run_in_background: z.boolean().optional().describe("Return at once with a job's id."),
    unsandboxed: z
      .boolean()
      .optional()
      .describe("Run outside the OS sandbox, where there is one; always asks the person. Only after it failed because of the sandbox."),
  });

export function bashTool(state: ShellState, options: BashOptions): Tool {
  const { defaultTimeoutMs = DEFAULT_TIMEOUT_MS } = options;
  return defineTool({
    name: "Bash",
    description:
      "Runs a command line in bash, in the working folder; a cd counts from your next answer on, variables are not kept. Standard input is closed and there is no terminal, so nothing interactive works: give flags such as -y. Returns output (stdout and stderr) and a non-zero exit code; long output keeps head and tail, the whole is in a file. Stopped with all that it started after timeout. Servers and watchers go into the background. Use ReadFile, Glob, Grep and EditFile rather than cat, find, grep and sed. Quote paths with blanks.",
    schema: schema(defaultTimeoutMs),
    access: ({ command, unsandboxed }) => ({ kind: "command", subject: command, ...(unsandboxed ? { isUnsandboxed: true } : {}) }),
    isConcurrencySafe: ({ command, run_in_background }) => !run_in_background && looksIndependent(command),
    async run({ command, timeout = defaultTimeoutMs, run_in_background, unsandboxed: isUnsandboxed = false }, context) {
      const { folder, note } = state.startFolder();
      if (folder === undefined) return errorResult(`The working folder ${state.cwd} is gone.`);
      const outputPath = join(options.outputFolder, `${context.callId.replace(/[^A-Za-z0-9_-]/g, "_")}.out`);
      const { addJob, jobWords, runInFront } = await import("../bash/run-in-front.ts");
      if (run_in_background) {
        const starter = await state.starter();
        const job = addJob(command, await starter.start({ command, cwd: folder, outputPath, isUnsandboxed }, options), state);
        return textResult(`${note ? `${note}\n` : ""}Started ${job.id} in the background (pid ${job.pid}). ${jobWords(job)}`);
      }
      const result = await runInFront({ command, timeoutMs: timeout, folder, outputPath, isUnsandboxed }, state, options, context);
      return note === undefined ? result : { ...result, content: [{ type: "text", text: note }, ...result.content] };
    },
  });
}

/** One plain command that only looks, a remark behind it or not: it may run beside others. No judgement on safety, which decides for itself. */
function looksIndependent(command: string): boolean {
  return (
    /^[\w \t./@:=,+~^%'"*?-]+$/.test(command.trim().replace(/[ \t]#.*$/, "")) &&
    /^\s*(?:ls|cat|head|tail|wc|stat|file|pwd|sleep|echo|rg|grep|du|git (?:status|log|show|diff|blame|ls-files|rev-parse))\b/.test(command)
  );
}
