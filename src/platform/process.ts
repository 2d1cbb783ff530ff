import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import type { ProcessIdentity } from "../protocol/team.ts";
import { ownEnvironment } from "./own-programs.ts";

/** Start time of a running process as the kernel tells it, with the boot's id in front; undefined when there is no such process. */
export function processStart(pid: number): string | undefined {
  if (process.platform !== "linux") return isRunning(pid) ? "running" : undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in field 2 may hold blanks and parentheses; what counts begins after the last one.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return undefined;
    return `${bootId()}/${fields[19]}`;
  } catch {
    // No such process, or it ended while we read.
    return undefined;
  }
}

export function selfIdentity(): ProcessIdentity {
  return { pid: process.pid, startedAt: processStart(process.pid) ?? "unknown" };
}

/** A reused pid has another start time, so it does not count. */
export function isAlive(identity: ProcessIdentity): boolean {
  return processStart(identity.pid) === identity.startedAt;
}

/** Where a process number means the same process: one machine, and of its containers one. */
export function processPlace(): string {
  try {
    return `${hostname()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    // No Linux.
    return hostname();
  }
}

/** Stopped by a signal (SIGSTOP) or a debugger: it lives, but answers nothing. */
export function isSuspended(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return ["T", "t"].includes(stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3));
  } catch {
    return false;
  }
}

function bootId(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export type CommandResult = { exitCode: number; signal?: string; stdout: string; stderr: string; timedOut: boolean; missing: boolean };
type CommandOptions = {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  input?: string;
  timeoutMs?: number;
  signal?: AbortSignal;
  maxBytes?: number;
  /** For a program that prints bytes: each is a character of the output then. */
  encoding?: "latin1";
};

/** Runs a program of ours (tmux, it2, a check) to its end. Never throws for a program that fails or is missing: `missing` says so. */
export async function runCommand(file: string, args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const { execa } = await import("execa");
  const result = await execa(file, args, {
    reject: false,
    stripFinalNewline: false,
    extendEnv: false,
    env: ownEnvironment(options.env),
    maxBuffer: options.maxBytes ?? 16 * 1024 * 1024,
    ...(options.encoding ? { encoding: options.encoding } : {}),
    ...(options.cwd ? { cwd: options.cwd } : {}),
    ...(options.input === undefined ? { stdin: "ignore" as const } : { input: options.input }),
    ...(options.timeoutMs ? { timeout: options.timeoutMs } : {}),
    ...(options.signal ? { cancelSignal: options.signal } : {}),
  });
  return {
    exitCode: result.exitCode ?? -1,
    ...(result.signal ? { signal: result.signal } : {}),
    stdout: result.stdout ?? "",
    stderr: result.stderr ?? "",
    timedOut: result.timedOut,
    missing: result.code === "ENOENT",
  };
}
