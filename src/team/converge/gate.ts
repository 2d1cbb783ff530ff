import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { checkEnvironment } from "../../platform/command-environment.ts";
import { ownProgram } from "../../platform/own-programs.ts";
import { stopTree } from "../../platform/process-tree.ts";

export type GateResult = { ok: boolean; output: string };
export type GateRequest = {
  command: string;
  worktree: string;
  timeoutMs?: number;
  env?: NodeJS.ProcessEnv;
  /** Puts it into the OS sandbox: a check that is a model's words. */
  contain?: Contain | undefined;
};
/** Undefined where it runs as it is; `end` gives what it touched and may not have, in words. */
type Contain = (
  argv: readonly string[],
  call: { command: string; isUnsandboxed: boolean },
) => Promise<{ argv: readonly string[]; end(): string | undefined } | undefined>;

const TIMEOUT_MS = 10 * 60_000;
const TAIL = 8_000;
const DRAIN_MS = 500;

/** Runs a check in a worktree. Whatever it started is gone when this resolves. */
export async function runGate(request: GateRequest, signal: AbortSignal): Promise<GateResult> {
  const { command, worktree, timeoutMs = TIMEOUT_MS, env = {} } = request;
  const bare = [ownProgram("bash", process.env), "--noprofile", "--norc", "-c", command];
  const contained = await request.contain?.(bare, { command, isUnsandboxed: false });
  const [file = "bash", ...args] = contained?.argv ?? bare;
  // By it what left the group and the parent is found.
  const mark = ["ROOCODE_CHECK", randomUUID()] as const;
  const child = spawn(ownProgram(file, process.env), args, {
    cwd: worktree,
    env: { ...checkEnvironment(process.env), ...env, [mark[0]]: mark[1] },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let tail = "";
  const add = (text: string) => {
    tail = (tail + text).slice(-2 * TAIL);
  };
  child.stdout.setEncoding("utf8").on("data", add);
  child.stderr.setEncoding("utf8").on("data", add);
  const closed = new Promise((resolve) => child.on("close", resolve));
  let stopped: string | undefined;
  const stop = (why: string) => {
    stopped ??= why;
    if (child.pid !== undefined) void stopTree(child.pid);
  };
  const timer = setTimeout(() => stop(`stopped after ${timeoutMs} ms`), timeoutMs);
  const onAbort = () => stop("interrupted");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    const code = await new Promise<number | string>((resolve, reject) => {
      child.on("error", reject);
      child.on("exit", (exitCode, by) => resolve(exitCode ?? by ?? "unknown"));
    });
    // Something left behind that holds the pipes open ends here; a process that left the group too must not hold the gate.
    if (child.pid !== undefined) await stopTree(child.pid, 500, mark.join("="));
    await Promise.race([closed, sleep(DRAIN_MS, undefined, { ref: false })]);
    const how = stopped ?? (code === 0 ? undefined : typeof code === "number" ? `exit code ${code}` : `ended by ${code}`);
    const said = [clean(tail), contained?.end(), how && `[${how}]`];
    return { ok: how === undefined, output: said.filter((part) => part !== undefined && part !== "").join("\n") };
  } finally {
    contained?.end();
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}

/** Escapes of colours say nothing to a model. */
function clean(text: string): string {
  // biome-ignore lint/complexity/useRegexLiterals: an escape character in a literal is unreadable
  return text.replace(new RegExp("\u001b\\[[0-9;?]*[A-Za-z]", "g"), "").trim().slice(-TAIL);
}
