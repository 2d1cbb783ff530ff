import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessIdentity } from "../protocol/team.ts";

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

/** Signals a whole process group. False when nothing of it is left. */
function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** TERM, a grace time, KILL, for a process, its group and all its descendants; resolves when none of them is left. */
export async function stopTree(pid: number, graceMs = 2000): Promise<void> {
  const killAt = Date.now() + graceMs;
  let signal: NodeJS.Signals = "SIGTERM";
  // Descendants that left the group (setsid) are found while their parent still lives; the set only grows.
  const known = new Map<number, string>();
  for (;;) {
    for (const member of family(pid)) known.set(member.pid, member.startedAt);
    const living = [...known].filter(([member, startedAt]) => processStart(member) === startedAt);
    if (living.length === 0) return;
    signalGroup(pid, signal);
    for (const [member] of living) signalOne(member, signal);
    await sleep(signal === "SIGTERM" ? 20 : 10);
    if (Date.now() >= killAt) signal = "SIGKILL";
  }
}

/** Pids of processes that were started with this variable; none where the system does not tell. */
export function processesWithEnvironment(name: string, value: string): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(`${name}=${value}`) ? [Number(pid)] : [];
    } catch {
      // Ended meanwhile, or someone else's.
      return [];
    }
  });
}

function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself.
  }
}

/** The process, the members of its group and everything below them. Zombies do not count. */
function family(root: number): ProcessIdentity[] {
  if (process.platform !== "linux") {
    const startedAt = processStart(root);
    return startedAt ? [{ pid: root, startedAt }] : [];
  }
  const processes = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)));
  const members = new Set([root]);
  let size = 0;
  while (size !== members.size) {
    size = members.size;
    for (const one of processes) if (members.has(one.parent) || one.group === root) members.add(one.pid);
  }
  return processes.filter((one) => members.has(one.pid)).map(({ pid, startedAt }) => ({ pid, startedAt }));
}

function readProcess(pid: number): { pid: number; parent: number; group: number; startedAt: string }[] {
  const startedAt = processStart(pid);
  if (startedAt === undefined) return [];
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return [{ pid, parent: Number(fields[1]), group: Number(fields[2]), startedAt }];
  } catch {
    return [];
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
};

/** Runs a program of ours (tmux, it2, a check) to its end. Never throws for a program that fails or is missing: `missing` says so. */
export async function runCommand(file: string, args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const { execa } = await import("execa");
  const result = await execa(file, args, {
    reject: false,
    stripFinalNewline: false,
    extendEnv: options.env === undefined,
    maxBuffer: options.maxBytes ?? 16 * 1024 * 1024,
    ...(options.cwd ? { cwd: options.cwd } : {}),
    ...(options.env ? { env: options.env } : {}),
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
