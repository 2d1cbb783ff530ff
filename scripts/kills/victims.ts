import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runCommand } from "../../src/platform/process.ts";
import type { TestHome } from "../../test/support/home.ts";
import { livingMembers } from "../../test/support/running-team.ts";
import { processesIn } from "./audit.ts";
import { type GitTrap, gitTrap } from "./git-trap.ts";
import type { Scenario } from "./scenario.ts";

/** A victim may not be there yet, or not any more. */
const PATIENCE_MS = 3_000;
const LEAD_SIGNALS = { "lead KILL": "SIGKILL", "lead TERM": "SIGTERM", "lead HUP": "SIGHUP" } as const;
/** Of each: its calls by their arguments (`-C folder` and such stand before the command), at most so many of them let go before, for so long. */
const GIT_CALLS = {
  "git merge": ["(^| )merge --no-ff ", 1, 10],
  "git landing": ["(^| )merge --ff-only ", 0, 4],
  "git commit": ["(^| )commit ", 4, 8],
  "any git": ["", 100, 8],
} as const;

export type Killer = {
  /** Of all programs of the team. */
  env: Record<string, string>;
  /** What was killed; undefined when there was nothing to kill. */
  kill(leadPid: number, isOver: () => boolean): Promise<string | undefined>;
  close(): Promise<void>;
};

export async function killerFor(scenario: Scenario, home: TestHome, folder: string): Promise<Killer> {
  const sockets = join(folder, "s");
  await mkdir(sockets);
  const isGit = scenario.victim.includes("git");
  const trap = isGit ? await gitTrap(home.home) : undefined;
  const path = `${trap ? `${trap.bin}:` : ""}${process.env.PATH ?? ""}`;
  return { env: { TMUX_TMPDIR: sockets, PATH: path }, kill, close: async () => trap?.close() };

  async function killGit({ spring }: GitTrap, victim: keyof typeof GIT_CALLS, isOver: () => boolean) {
    const [pattern, mostSkipped, longestMs] = GIT_CALLS[victim];
    return spring(pattern, Math.floor(scenario.random() * (mostSkipped + 1)), () => scenario.random() * longestMs, isOver);
  }

  async function kill(leadPid: number, isOver: () => boolean): Promise<string | undefined> {
    switch (scenario.victim) {
      case "lead KILL":
      case "lead TERM":
      case "lead HUP":
        return signal(leadPid, LEAD_SIGNALS[scenario.victim]) ? "the lead" : undefined;
      case "teammate":
        return within(isOver, async () => {
          // One that is only "starting" is told of by the lead's process.
          const living = (await livingMembers(home)).filter(({ pid }) => pid !== leadPid);
          const one = living[Math.floor(scenario.random() * living.length)];
          return one && signal(one.pid, "SIGKILL") ? one.name : undefined;
        });
      case "everything": {
        // As if the machine had gone: again until none is left that another started meanwhile.
        let count = 0;
        for (let pids = await processesIn(folder); pids.length > 0; pids = await processesIn(folder))
          for (const pid of pids) count += signal(pid, "SIGKILL") ? 1 : 0;
        return count > 0 ? `all ${count} processes` : undefined;
      }
      case "tmux server":
        return within(isOver, async () => {
          const shown = await runCommand("tmux", ["display-message", "-p", "#{pid}"], { env: { ...process.env, TMUX_TMPDIR: sockets } });
          const pid = Number(shown.stdout.trim());
          return shown.exitCode === 0 && pid > 1 && signal(pid, "SIGKILL") ? "the tmux server" : undefined;
        });
      case "git merge":
      case "git landing":
      case "git commit":
      case "any git":
        return trap && killGit(trap, scenario.victim, isOver);
    }
  }
}

async function within(isOver: () => boolean, look: () => Promise<string | undefined>): Promise<string | undefined> {
  const until = Date.now() + PATIENCE_MS;
  while (Date.now() < until && !isOver()) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(10);
  }
  return undefined;
}

function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    // It ended by itself.
    return false;
  }
}
