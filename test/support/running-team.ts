import { spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isAlive } from "../../src/platform/process.ts";
import type { ProcessIdentity } from "../../src/protocol/team.ts";
import type { TeamStatus } from "../../src/runtime/team-status.ts";
import { childEnvironment, type Finished, type TestHome } from "./home.ts";

const BIN = decodeURIComponent(new URL("../../bin/roocode.js", import.meta.url).pathname);

export type RunningTeam = AsyncDisposable & {
  pid: number;
  ended: Promise<Finished & { signal: NodeJS.Signals | null }>;
  output(): string;
};

/** A `roocode team …` that runs while the test looks at it and does things to it. */
export function startTeam(home: TestHome, args: readonly string[], env: Record<string, string>, cwd = home.repo): RunningTeam {
  const child = spawn(process.execPath, [BIN, "team", ...args], { cwd, env: { ...childEnvironment(home.home), ...env }, detached: true });
  const finished: Finished = { code: null, stdout: "", stderr: "" };
  child.stdin.end();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    finished.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    finished.stderr += text;
  });
  // Not "close": teammates that outlive a killed lead hold the pipes.
  const ended = new Promise<Finished & { signal: NodeJS.Signals | null }>((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => setImmediate(() => resolve({ ...finished, code, signal })));
  });
  if (child.pid === undefined) throw new Error("roocode did not start.");
  return {
    pid: child.pid,
    ended,
    output: () => finished.stdout + finished.stderr,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await ended;
      for (const { pid } of await livingMembers(home)) process.kill(-pid, "SIGKILL");
      child.stdout.destroy();
      child.stderr.destroy();
    },
  };
}

export async function statusOf(home: TestHome, team: string): Promise<TeamStatus> {
  const { stdout, stderr, code } = await home.roocode(["team", "status", team, "--json"]);
  if (code !== 0) throw new Error(`team status ${team}: ${stderr}`);
  return JSON.parse(stdout);
}

/** Of all teams of this home: those that run and those that are over. */
export async function livingMembers(home: TestHome): Promise<(ProcessIdentity & { name: string })[]> {
  const teams = join(home.data, "teams");
  const names = await readdir(teams, { recursive: true }).catch(() => []);
  const records = names.filter((name) => /presence\/[^/.][^/]*\.json$/.test(name) && !name.endsWith("/lead.json"));
  const read = await Promise.all(records.map(async (name) => JSON.parse(await readFile(join(teams, name), "utf8").catch(() => "{}"))));
  return read.filter((one) => one.process && isAlive(one.process)).map((one) => ({ name: one.name, ...one.process }));
}

/** Processes whose command line holds these words. */
export async function processesWith(words: string): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const lines = await Promise.all(pids.map(async (pid) => ({ pid, line: await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "") })));
  return lines.filter(({ line }) => line.replaceAll("\0", " ").includes(words)).map(({ pid }) => Number(pid));
}
