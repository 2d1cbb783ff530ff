import { type ChildProcess, spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { ownProgram } from "../../platform/own-programs.ts";
import { ProcessTree, stopTree } from "../../platform/process-tree.ts";
import type { BashOptions, Contained } from "./bash-options.ts";
import type { Pipe } from "./pipes.ts";
import type { ShellOutput } from "./shell-output.ts";

/** How long output may go on coming after the process ended, and for how many looks it may be silent meanwhile. */
const DRAIN_MS = 1_000;
const LOOK_MS = 10;
const SILENT_LOOKS = 6;
/** One environment string can't be longer on Linux. */
const MAX_COMMAND_BYTES = 128 * 1024 - 64;
/** Of a job whose file is full: what it still prints is read slowly, so that it does not take a processor. */
const PAUSE_MS = 50;
const BYTES_A_PAUSE = 1024 * 1024;

/**
 * The command reaches bash by the environment: in the argument list `pkill -f` would find its own shell by its own pattern. Both
 * outputs are one pipe, in the order of what was written; descriptor 3 tells the last folder.
 */
const SCRIPT =
  'exec 2>&1; trap \'{ pwd -P 2>/dev/null || echo "$PWD"; printf "\\0"; } >&3\' EXIT; __roocode=$ROOCODE_TEXT; unset ROOCODE_TEXT; eval "$__roocode"';

export type CommandEnd = { code: number | null; by: NodeJS.Signals | null };

export type StartRequest = {
  command: string;
  cwd: string;
  isUnsandboxed: boolean;
  /** Variables that all it starts carries: of the agent's commands, and of this one. */
  marks: { ROOCODE_COMMANDS: string; ROOCODE_COMMAND: string };
  options: BashOptions;
  output: ShellOutput;
  pipe: Pipe | undefined;
};

/** A command that runs, with all that it started. */
export class RunningCommand {
  readonly pid: number;
  readonly output: ShellOutput;
  readonly ended: Promise<CommandEnd>;
  /** All that could write is gone. */
  readonly closed: Promise<void>;
  /** Nobody waits for it: it may not take a processor by what it prints. */
  isJob = false;
  readonly contained: Contained | undefined;
  #folder = "";
  #isClosed = false;
  #isReleased = false;
  #bytesToPause = BYTES_A_PAUSE;
  readonly #tree: ProcessTree;
  readonly #mark: string;
  readonly #streams: readonly (NodeJS.ReadableStream & { destroy(): void })[];

  constructor(
    child: ChildProcess & { pid: number },
    ended: Promise<CommandEnd>,
    { output, marks, pipe }: StartRequest,
    contained?: Contained,
  ) {
    this.pid = child.pid;
    this.contained = contained;
    this.output = output;
    this.ended = ended;
    this.#mark = `ROOCODE_COMMAND=${marks.ROOCODE_COMMAND}`;
    this.#tree = new ProcessTree(child.pid, this.#mark);
    const piped = pipe ? [new Socket({ fd: pipe.read, readable: true, writable: false })] : [];
    const outputs = [...piped, ...[child.stdout, child.stderr].filter((stream) => stream !== null)];
    const folder = child.stdio[3];
    // The fourth descriptor is a pipe that only the child writes.
    const folders = folder && "read" in folder ? [folder] : [];
    this.#streams = [...outputs, ...folders];
    for (const stream of outputs) stream.on("data", (bytes: Buffer) => this.#read(stream, bytes));
    for (const stream of folders)
      stream.on("data", (bytes: Buffer) => {
        this.#folder = (this.#folder + bytes.toString("utf8")).slice(-8192);
      });
    this.closed = Promise.all(this.#streams.map(untilClosed)).then(() => {
      this.#isClosed = true;
    });
  }

  /** Where the shell was at its end. */
  get folder(): string | undefined {
    // Ended by a NUL: a name may hold a line feed.
    return this.#folder.split("\0").at(-2)?.replace(/\n$/, "") || undefined;
  }

  /** Takes what the ended process wrote. False when something that it started still holds the pipes. */
  async drain(): Promise<boolean> {
    const until = performance.now() + DRAIN_MS;
    // Looks, not time: a process that had no processor meanwhile has read nothing yet.
    for (let silent = 0; !this.#isClosed && silent < SILENT_LOOKS && performance.now() < until; silent += 1) {
      const before = this.output.bytes;
      await Promise.race([this.closed, sleep(LOOK_MS)]);
      if (this.output.bytes !== before) silent = 0;
    }
    return this.#isClosed;
  }

  /** Pids of what runs. */
  living(): number[] {
    return this.#tree.living().map((one) => one.pid);
  }

  /** Ends it with everything that it started; gives the pids that would not. */
  stop(graceMs?: number): Promise<number[]> {
    return stopTree(this.pid, graceMs, this.#mark);
  }

  /** Nothing of it runs any more. What it touched and may not is told as the last words of its output. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    const touched = this.contained?.end();
    if (touched !== undefined) this.output.add(Buffer.from(`${this.output.bytes > 0 ? "\n" : ""}${touched}\n`));
    for (const stream of this.#streams) stream.destroy();
  }

  #read(stream: NodeJS.ReadableStream, bytes: Buffer): void {
    this.output.add(bytes);
    if (!this.isJob || !this.output.isFull) return;
    this.#bytesToPause -= bytes.length;
    if (this.#bytesToPause > 0) return;
    this.#bytesToPause = BYTES_A_PAUSE;
    stream.pause();
    setTimeout(() => stream.resume(), PAUSE_MS).unref();
  }
}

/** Starts bash in a session and process group of its own, without a terminal and without input. */
export async function startCommand(request: StartRequest): Promise<RunningCommand> {
  const { command, cwd, isUnsandboxed, marks, options, pipe } = request;
  const problem = unsendable(command);
  if (problem !== undefined) {
    if (pipe) for (const fd of [pipe.read, pipe.write]) closeSync(fd);
    throw new Error(problem);
  }
  const argv = [ownProgram("bash", options.env), "--noprofile", "--norc", "-c", SCRIPT];
  const contained = await options.contain?.(argv, { command, isUnsandboxed });
  const [file = "bash", ...args] = contained?.argv ?? argv;
  const env = { ...options.env, ...marks, ROOCODE_TEXT: command };
  const stdio: ("ignore" | "pipe" | number)[] = ["ignore", pipe?.write ?? "pipe", pipe?.write ?? "pipe", "pipe"];
  let child: ChildProcess;
  try {
    child = spawn(ownProgram(file, options.env), args, { cwd, env, detached: true, stdio });
  } catch (error) {
    if (pipe) closeSync(pipe.read);
    contained?.end();
    throw error;
  } finally {
    if (pipe) closeSync(pipe.write);
  }
  const ended = new Promise<CommandEnd>((resolve, reject) => {
    child.on("error", (error) => reject(new Error(`${file} could not be started: ${error.message}`)));
    // Not "close": what it started and left behind must not hold the call.
    child.on("exit", (code, by) => resolve({ code, by }));
  });
  const { pid } = child;
  if (pid === undefined) {
    if (pipe) closeSync(pipe.read);
    contained?.end();
    await ended;
    throw new Error(`${file} could not be started.`);
  }
  ended.catch(() => undefined);
  return new RunningCommand(Object.assign(child, { pid }), ended, request, contained);
}

function unsendable(command: string): string | undefined {
  if (command.includes("\0")) return "The command holds a NUL character, which no shell takes.";
  if (Buffer.byteLength(command) <= MAX_COMMAND_BYTES) return undefined;
  return `The command is longer than ${MAX_COMMAND_BYTES} bytes: write it to a file with WriteFile and run that.`;
}

function untilClosed(stream: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve) => {
    stream.on("error", () => undefined);
    stream.once("close", resolve);
  });
}
