import type { ChildProcess } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { stopTree } from "../../platform/process.ts";
import { defineTool } from "../../protocol/define-tool.ts";
import { errorResult, type Tool, type ToolResult, textResult } from "../../protocol/tool.ts";
import { plainText, ShellOutput } from "../shell-output.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;
/** How long output that is already in the pipe may take after the process ended. */
const DRAIN_MS = 100;

export type BashOptions = {
  /** Where output that is too large for the model is kept. */
  outputFolder: string;
  env: NodeJS.ProcessEnv;
  defaultTimeoutMs?: number;
  maskSecrets?: (text: string) => string;
  /** Wraps the argument vector, for the OS sandbox. */
  wrap?: (argv: readonly string[]) => readonly string[];
};

const schema = z.object({
  command: z.string().min(1).describe("Command line for bash."),
  timeout: z
    .int()
    .min(1)
    .max(MAX_TIMEOUT_MS)
    .optional()
    .describe(`Milliseconds until it is stopped; ${DEFAULT_TIMEOUT_MS} unless given, at most ${MAX_TIMEOUT_MS}.`),
  description: z.string().optional().describe("What it does, in a few words."),
  run_in_background: z.boolean().optional().describe("Return at once; the output goes to a file that is named in the answer."),
});

type Job = { pid: number; outputPath: string; exit?: string };

/** State of one agent's shell: the folder that the next command starts in, and jobs in the background. */
export class ShellState {
  cwd: string;
  readonly background = new Map<string, Job>();
  /** What lets go of a command that a call waits for. */
  readonly foreground = new Set<() => void>();
  constructor(cwd: string) {
    this.cwd = cwd;
  }

  /** The commands that calls wait for run on as jobs, and the calls return. Gives their number. */
  toBackground(): number {
    const { size } = this.foreground;
    for (const letGo of [...this.foreground]) letGo();
    return size;
  }

  addJob(job: Job): string {
    const id = `job-${this.background.size + 1}`;
    this.background.set(id, job);
    return id;
  }

  /** Ends all background jobs with everything they started. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.background.values()].filter((job) => job.exit === undefined).map((job) => stopTree(job.pid)));
  }
}

export function bashTool(state: ShellState, options: BashOptions): Tool {
  return defineTool({
    name: "Bash",
    description:
      "Runs a command line in bash, in the working folder; cd is kept for the next call, variables are not. Standard input is closed, so nothing interactive works: give flags such as -y. Returns output (stdout and stderr) and a non-zero exit code; long output keeps head and tail, the whole is in a file. Stopped with all that it started after timeout. Use ReadFile, Glob, Grep and EditFile rather than cat, find, grep and sed. Quote paths with blanks.",
    schema,
    access: ({ command }) => ({ kind: "command", subject: command }),
    isConcurrencySafe: ({ command, run_in_background }) => !run_in_background && looksIndependent(command),
    async run(input, { callId, signal, progress }) {
      if (!existsSync(state.cwd)) return errorResult(`The working folder ${state.cwd} is gone.`);
      if (input.run_in_background) return startInBackground(input.command, state, options, callId);
      return runInFront(
        input.command,
        input.timeout ?? options.defaultTimeoutMs ?? DEFAULT_TIMEOUT_MS,
        state,
        options,
        callId,
        signal,
        progress,
      );
    },
  });
}

async function runInFront(
  command: string,
  timeoutMs: number,
  state: ShellState,
  options: BashOptions,
  callId: string,
  signal: AbortSignal,
  progress: (text: string) => void,
): Promise<ToolResult> {
  const started = performance.now();
  // Loaded with the first command: a start up to the first request runs none.
  const { spawn } = await import("node:child_process");
  const [file = "bash", ...args] = shellArguments(`trap 'pwd -P >&3 2>/dev/null' EXIT\n${command}`, options);
  const child = spawn(file, args, { cwd: state.cwd, env: options.env, detached: true, stdio: ["ignore", "pipe", "pipe", "pipe"] });
  const output = new ShellOutput(outputPath(options, callId));
  let isReleased = false;
  const add = (text: string) => {
    output.add(text);
    if (!isReleased) progress(plainText(text));
  };
  child.stdout?.setEncoding("utf8").on("data", add);
  child.stderr?.setEncoding("utf8").on("data", add);
  let folder = "";
  child.stdio[3]?.on("data", (bytes: Buffer) => {
    folder += bytes.toString("utf8");
  });

  const exited = new Promise<{ code: number | null; by: NodeJS.Signals | null }>((resolve, reject) => {
    child.on("error", reject);
    // Not "close": a grandchild that keeps the pipe open must not hold the call.
    child.on("exit", (code, by) => resolve({ code, by }));
  });
  let ended: "timeout" | "interrupted" | undefined;
  const stop = (why: "timeout" | "interrupted") => {
    ended ??= why;
    if (child.pid !== undefined) void stopTree(child.pid);
  };
  const timer = setTimeout(() => stop("timeout"), timeoutMs);
  const onAbort = () => stop("interrupted");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  let letGo = () => {};
  const released = new Promise<"released">((resolve) => {
    letGo = () => resolve("released");
  });
  state.foreground.add(letGo);
  try {
    const end = await Promise.race([exited, released]);
    if (end === "released" && child.pid !== undefined) {
      isReleased = true;
      const job: Job = { pid: child.pid, outputPath: output.keepInFile() };
      const id = state.addJob(job);
      void exited.then(async ({ code, by }) => {
        await drained(child);
        job.exit = by ?? String(code);
        for (const stream of child.stdio) stream?.destroy();
        output.finish();
      });
      const soFar = (options.maskSecrets ?? String)(plainText(output.soFar())).trimEnd();
      return textResult(
        withNote(
          soFar,
          `[The user sent this command to the background: it runs on as ${id} (process group ${job.pid}). Its output goes to ${job.outputPath}; it ends with this session, or with: kill -- -${job.pid}]`,
        ),
      );
    }
    const { code, by } = await exited;
    await drained(child);
    if (ended && child.pid !== undefined) await stopTree(child.pid);
    const next = folder.trim().split("\n").at(-1);
    if (next && existsSync(next)) state.cwd = next;
    const text = (options.maskSecrets ?? String)(plainText(output.finish())).trimEnd();
    const seconds = Math.round((performance.now() - started) / 100) / 10;
    if (ended === "timeout") return errorResult(withNote(text, `[stopped after ${timeoutMs} ms, with all that it had started]`));
    if (ended === "interrupted") return errorResult(withNote(text, "[interrupted by the user]"));
    if (by) return errorResult(withNote(text, `[ended by signal ${by} after ${seconds} s]`));
    return code === 0 ? textResult(text === "" ? "(no output)" : text) : errorResult(withNote(text, `[exit code ${code}]`));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    state.foreground.delete(letGo);
    if (!isReleased) for (const stream of child.stdio) stream?.destroy();
  }
}

/** The pipes' end, or a short while: what the ended process wrote is in the pipe by now. */
async function drained(child: ChildProcess): Promise<void> {
  if (child.stdout?.readableEnded && child.stderr?.readableEnded) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, DRAIN_MS);
    child.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

async function startInBackground(command: string, state: ShellState, options: BashOptions, callId: string): Promise<ToolResult> {
  const { spawn } = await import("node:child_process");
  const path = outputPath(options, callId);
  mkdirSync(options.outputFolder, { recursive: true, mode: 0o700 });
  const fd = openSync(path, "w", 0o600);
  const [file = "bash", ...args] = shellArguments(command, options);
  const child = spawn(file, args, { cwd: state.cwd, env: options.env, detached: true, stdio: ["ignore", fd, fd] });
  closeSync(fd);
  // Without a listener the error would end the agent; the missing pid says it all.
  child.on("error", () => undefined);
  if (child.pid === undefined) return errorResult("bash could not be started.");
  const job: Job = { pid: child.pid, outputPath: path };
  const id = state.addJob(job);
  child.on("exit", (code, signal) => {
    job.exit = signal ?? String(code);
  });
  return textResult(
    `Started ${id} in the background (process group ${child.pid}). Its output goes to ${path}; it ends with this session, or with: kill -- -${child.pid}`,
  );
}

/** One plain command that only looks, a remark behind it or not: it may run beside others. No judgement on safety, which decides for itself. */
function looksIndependent(command: string): boolean {
  return (
    /^[\w \t./@:=,+~^%'"*?-]+$/.test(command.trim().replace(/[ \t]#.*$/, "")) &&
    /^\s*(?:ls|cat|head|tail|wc|stat|file|pwd|sleep|echo|rg|grep|du|git (?:status|log|show|diff|blame|ls-files|rev-parse))\b/.test(command)
  );
}

function shellArguments(script: string, options: BashOptions): readonly string[] {
  const argv = ["bash", "--noprofile", "--norc", "-c", script];
  return options.wrap ? options.wrap(argv) : argv;
}

function outputPath(options: BashOptions, callId: string): string {
  return join(options.outputFolder, `${callId.replace(/[^A-Za-z0-9_-]/g, "_")}.out`);
}

function withNote(text: string, note: string): string {
  return text === "" ? note : `${text}\n${note}`;
}

const PROVIDER_VARIABLE = /^(ANTHROPIC|OPENAI|OPENROUTER|DEEPSEEK|GEMINI|GOOGLE|MISTRAL|GROQ|XAI|ZAI|MOONSHOT|DASHSCOPE)_.*(KEY|TOKEN)$/;
const REMOVED_VARIABLE = /^(BASH_ENV|ENV|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|LD_.*|DYLD_.*|GIT_.*|NODE_OPTIONS|ROOCODE_.*)$/;

/** What a command may see: no provider keys, nothing that makes shells, loaders or git run other programs; pagers and editors defused. */
export function shellEnvironment(base: NodeJS.ProcessEnv, extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(base).filter(
    ([name]) => !PROVIDER_VARIABLE.test(name) && !REMOVED_VARIABLE.test(name) && !name.startsWith("BASH_FUNC_"),
  );
  return {
    ...Object.fromEntries(kept),
    PAGER: "cat",
    GIT_PAGER: "cat",
    GIT_TERMINAL_PROMPT: "0",
    GIT_EDITOR: "true",
    EDITOR: "true",
    VISUAL: "true",
    TERM: "dumb",
    ...extra,
  };
}
