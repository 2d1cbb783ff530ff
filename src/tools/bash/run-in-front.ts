import { commandLine } from "../../platform/process-tree.ts";
import { interrupter } from "../../protocol/interruption.ts";
import { errorResult, type ToolContext, type ToolResult, textResult } from "../../protocol/tool.ts";
import type { BashOptions } from "./bash-options.ts";
import { MAX_PROCESSES, watchCrowd } from "./crowd.ts";
import { exitWords } from "./exit-words.ts";
import { Job } from "./job.ts";
import { ProgressThrottle } from "./progress.ts";
import type { ShellState } from "./shell-state.ts";
import type { CommandEnd, RunningCommand } from "./start-command.ts";

export type FrontRequest = { command: string; timeoutMs: number; folder: string; outputPath: string; isUnsandboxed: boolean };
type Stopped = "timeout" | "interrupted" | "crowd" | undefined;

/** Runs a command until its shell ends; what it started and left behind becomes a job. */
export async function runInFront(
  { command, timeoutMs, folder, outputPath, isUnsandboxed }: FrontRequest,
  state: ShellState,
  options: BashOptions,
  { signal, progress }: Pick<ToolContext, "signal" | "progress">,
): Promise<ToolResult> {
  using shown = new ProgressThrottle(progress);
  const starter = await state.starter();
  const running = await starter.start({ command, cwd: folder, outputPath, isUnsandboxed }, options, (text) => shown.add(text));
  let stopped: Stopped;
  let stopping: Promise<number[]> | undefined;
  let letGo = () => {};
  let giveUp = () => {};
  const stuck = new Promise<CommandEnd>((resolve) => {
    giveUp = () => resolve({ code: null, by: "SIGKILL" });
  });
  const released = new Promise<"released">((resolve) => {
    letGo = () => resolve("released");
  });
  const stop = (why: Exclude<Stopped, undefined>) => {
    stopped ??= why;
    stopping ??= running.stop(why === "crowd" ? 0 : undefined).then((unkilled) => {
      // A shell that the kernel can't end is not waited for.
      if (unkilled.length > 0) giveUp();
      return unkilled;
    });
  };
  const timer = setTimeout(() => stop("timeout"), timeoutMs);
  const onAbort = () => stop("interrupted");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  state.foreground.add(letGo);
  using _watch = watchCrowd(running, () => stop("crowd"), options.maxProcesses);
  try {
    const end = await Promise.race([running.ended, released, stuck]);
    if (end === "released") return sentToBackground(command, running, state);
    const unkilled = (await stopping) ?? [];
    const isOver = await running.drain();
    if (stopping) {
      running.release();
      const text = running.output.finish().trimEnd();
      return errorResult(joined(text, stoppedWords(stopped, interrupter(signal), timeoutMs, unkilled, options.maxProcesses)));
    }
    return ended({ command, folder }, end, running, state, isOver);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    state.foreground.delete(letGo);
  }
}

function ended(
  { command, folder }: Pick<FrontRequest, "command" | "folder">,
  end: CommandEnd,
  running: RunningCommand,
  state: ShellState,
  isOver: boolean,
): ToolResult {
  const moved = running.folder === undefined ? undefined : state.endedIn(running.folder, folder);
  const how = exitWords(command, end);
  const exit = how && `[${how.words}]`;
  let text: string;
  let left: string | undefined;
  if (isOver) {
    running.release();
    text = running.output.finish().trimEnd();
  } else {
    text = running.output.text().trimEnd();
    running.output.takeNew();
    left = leftRunning(command, running, state);
  }
  const hint = how?.isFailure ? running.contained?.hint(text) : undefined;
  const all = joined(text, exit, moved, left, hint);
  return how?.isFailure ? errorResult(all) : textResult(all === "" ? "(no output)" : all);
}

function leftRunning(command: string, running: RunningCommand, state: ShellState): string {
  const job = addJob(command, running, state, true);
  const pids = running.living();
  const named = pids.slice(0, 5).map((pid) => `pid ${pid}: ${commandLine(pid).slice(0, 80)}`);
  return `[still running in the background as ${job.id}: ${named.join("; ")}${pids.length > 5 ? `; ${pids.length - 5} more` : ""}. ${jobWords(job)}]`;
}

function sentToBackground(command: string, running: RunningCommand, state: ShellState): ToolResult {
  const text = running.output.text().trimEnd();
  running.output.takeNew();
  const job = addJob(command, running, state);
  return textResult(joined(text, `[The user sent this command to the background: it runs on as ${job.id}. ${jobWords(job)}]`));
}

export function addJob(command: string, running: RunningCommand, state: ShellState, isLeft = false): Job {
  const job = new Job(`job-${state.jobs.size + 1}`, command, running, isLeft);
  state.jobs.set(job.id, job);
  return job;
}

export function jobWords({ outputPath }: Job): string {
  return `BashOutput gives its new output, TaskStop ends it; you are told when it ends, and it ends with this session. All its output: ${outputPath}`;
}

function stoppedWords(why: Stopped, by: string, timeoutMs: number, unkilled: readonly number[], maxProcesses = MAX_PROCESSES): string {
  const left = unkilled.length === 0 ? "with all that it had started" : `but these could not be ended: ${unkilled.join(", ")}`;
  switch (why) {
    case "timeout":
      return `[timeout: stopped after ${timeoutMs} ms, ${left}]`;
    case "crowd":
      return `[stopped: it had started more than ${maxProcesses} processes; ended ${left}]`;
    default:
      return unkilled.length === 0 ? `[interrupted by ${by}]` : `[interrupted by ${by}, ${left}]`;
  }
}

function joined(...parts: (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join("\n");
}
