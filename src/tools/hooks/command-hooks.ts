import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { closeSync, openSync, rmSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { commandEnvironment } from "../../platform/command-environment.ts";
import { exists } from "../../platform/files.ts";
import { ownProgram } from "../../platform/own-programs.ts";
import { stopTree } from "../../platform/process-tree.ts";
import { makeTempFolder } from "../../platform/temp-folder.ts";
import { Pipes } from "../bash/pipes.ts";
import { Watchdog } from "../bash/watchdog.ts";
import { Capture } from "./capture.ts";

export type CommandRequest = {
  command: string;
  /** For standard input. */
  payload: string;
  variables: Readonly<Record<string, string>>;
  /** Of these the first that is there. */
  folders: readonly string[];
  timeoutMs: number;
};
type CommandEnd =
  | { type: "exit"; code: number }
  | { type: "signal"; name: string }
  | { type: "timeout" | "flood" | "interrupted" }
  | { type: "unstarted"; reason: string };
export type RanCommand = { end: CommandEnd; stdout: string; stderr: string };

const GRACE_MS = 500;
const LOOK_MS = 10;
const SILENT_LOOKS = 3;
/** How long output that never pauses is waited for behind the end. */
const DRAIN_MS = 500;

/**
 * Commands of hooks: bash without a profile, in a process group of its own, with a scrubbed environment and outside of the OS sandbox, for
 * they are the person's. What one leaves running is ended at its time limit, or when the session ends.
 */
export class CommandHooks {
  readonly #env: NodeJS.ProcessEnv;
  /** All of them carry it, and what they start. */
  readonly #mark = `ROOCODE_HOOKS=${randomUUID()}`;
  readonly #pipes = new Pipes();
  #watchdog: Watchdog | undefined;

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
  }

  async run(request: CommandRequest, signal: AbortSignal): Promise<RanCommand> {
    // Without it an agent that is killed would leave them behind.
    this.#watchdog ??= new Watchdog(this.#mark);
    const capture = new Capture();
    const own = `ROOCODE_HOOK=${randomUUID()}`;
    const streams: Socket[] = [];
    let child: ChildProcess;
    try {
      child = await this.#start(request, own, capture, streams);
    } catch (error) {
      for (const stream of streams) stream.destroy();
      return { end: { type: "unstarted", reason: error instanceof Error ? error.message : String(error) }, stdout: "", stderr: "" };
    }
    const { pid } = child;
    const closed = Promise.all(streams.map(untilClosed)).then(() => true);
    const ended = new Promise<CommandEnd>((resolve) => {
      child.on("error", (error) => resolve({ type: "unstarted", reason: error.message }));
      child.on("exit", (code, name) => resolve(name === null ? { type: "exit", code: code ?? 0 } : { type: "signal", name }));
    });
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), request.timeoutMs);
    const started = performance.now();
    // A turn's signal outlives its hooks, of which there may be many.
    const over = new AbortController();
    const end = await Promise.race([
      ended,
      untilAborted(limit.signal, over.signal).then((): CommandEnd => ({ type: "timeout" })),
      untilAborted(signal, over.signal).then((): CommandEnd => ({ type: "interrupted" })),
      capture.flooded.then((): CommandEnd => ({ type: "flood" })),
    ]);
    over.abort();
    clearTimeout(timer);
    if (end.type === "exit" || end.type === "signal") {
      if (!(await drained(capture, closed)) || hasGroup(pid)) this.#endLater(pid, own, request.timeoutMs - (performance.now() - started));
    } else await stopTree(pid, end.type === "flood" ? 0 : GRACE_MS, own);
    for (const stream of streams) stream.destroy();
    return { end, stdout: capture.stdout, stderr: capture.stderr };
  }

  /** Nothing of them runs any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#watchdog) await stopTree(undefined, GRACE_MS, this.#mark);
    this.#watchdog?.end();
    this.#pipes.close();
  }

  async #start(
    { command, payload, variables, folders }: CommandRequest,
    own: string,
    capture: Capture,
    streams: Socket[],
  ): Promise<ChildProcess> {
    const outputs = [await this.#pipes.take(), await this.#pipes.take()];
    for (const [index, pipe] of outputs.entries()) {
      if (!pipe) continue;
      const stream = new Socket({ fd: pipe.read, readable: true, writable: false });
      streams.push(stream);
      stream.on("data", (bytes: Buffer) => capture.add(index === 0 ? "stdout" : "stderr", bytes));
    }
    const [stdout, stderr] = outputs.map((pipe) => pipe?.write ?? ("pipe" as const));
    const input = inputFile(payload);
    try {
      const marks = Object.fromEntries([this.#mark, own].map((mark) => mark.split("=")));
      const env = commandEnvironment(this.#env, { ...variables, ...marks });
      const child = spawn(ownProgram("bash", this.#env), ["--noprofile", "--norc", "-c", command], {
        cwd: await firstThere(folders),
        env,
        detached: true,
        stdio: [input, stdout, stderr],
      });
      for (const [name, stream] of [["stdout", child.stdout] as const, ["stderr", child.stderr] as const])
        if (stream instanceof Socket) {
          streams.push(stream);
          stream.on("data", (bytes: Buffer) => capture.add(name, bytes));
        }
      return child;
    } finally {
      closeSync(input);
      for (const pipe of outputs) if (pipe) closeSync(pipe.write);
    }
  }

  #endLater(pid: number | undefined, own: string, afterMs: number): void {
    const timer = setTimeout(() => void stopTree(pid, GRACE_MS, own), Math.max(0, afterMs));
    timer.unref();
  }
}

/**
 * A file without a name. Of a pipe that nobody reads, writing would fail, and Node's are sockets, which `/dev/stdin` can't open again.
 */
function inputFile(payload: string): number {
  const folder = makeTempFolder("hook");
  try {
    const path = join(folder, "event.json");
    writeFileSync(path, payload, { mode: 0o600 });
    return openSync(path, "r");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function firstThere(folders: readonly string[]): Promise<string> {
  for (const folder of folders) if (await exists(folder)) return folder;
  return "/";
}

/** Takes what was written before the end. False when something that was left behind still holds the pipes. */
async function drained(capture: Capture, closed: Promise<boolean>): Promise<boolean> {
  const until = performance.now() + DRAIN_MS;
  for (let silent = 0; silent < SILENT_LOOKS && performance.now() < until; silent += 1) {
    const before = capture.bytes;
    if (await Promise.race([closed, sleep(LOOK_MS, false)])) return true;
    if (capture.bytes !== before) silent = 0;
  }
  return false;
}

function hasGroup(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(-pid, 0);
  } catch {
    // Nobody is in it.
    return false;
  }
}

function untilClosed(stream: Socket): Promise<void> {
  return new Promise((resolve) => {
    stream.on("error", () => undefined);
    stream.once("close", resolve);
  });
}

function untilAborted(signal: AbortSignal, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else {
      // Any number may wait beside each other.
      setMaxListeners(0, signal);
      signal.addEventListener("abort", () => resolve(), { once: true, signal: over });
    }
  });
}
