import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ownProgram } from "../../src/platform/own-programs.ts";
import { runCommand } from "../../src/platform/process.ts";
import type { TestHome } from "../../test/support/home.ts";
import { livingMembers } from "../../test/support/running-team.ts";
import type { Scenario } from "./scenario.ts";

/** A victim may not be there yet, or not any more. */
const PATIENCE_MS = 3_000;
const LEAD_SIGNALS = { "lead KILL": "SIGKILL", "lead TERM": "SIGTERM", "lead HUP": "SIGHUP" } as const;
const GIT_WORDS = { "git merge": "merge", "git commit": "commit", "any git": "" } as const;

export type Killer = {
  /** Of all programs of the team. */
  env: Record<string, string>;
  /** What was killed; undefined when there was nothing to kill. */
  kill(leadPid: number, isOver: () => boolean): Promise<string | undefined>;
};

export async function killerFor(scenario: Scenario, home: TestHome, folder: string): Promise<Killer> {
  const sockets = join(folder, "s");
  await mkdir(sockets);
  const isGit = scenario.victim.includes("git");
  const trap = isGit ? await gitTrap(folder) : undefined;
  const path = `${trap ? `${trap.bin}:` : ""}${process.env.PATH ?? ""}`;
  return { env: { TMUX_TMPDIR: sockets, PATH: path }, kill };

  async function kill(leadPid: number, isOver: () => boolean): Promise<string | undefined> {
    switch (scenario.victim) {
      case "lead KILL":
      case "lead TERM":
      case "lead HUP":
        return signal(leadPid, LEAD_SIGNALS[scenario.victim]) ? "the lead" : undefined;
      case "teammate":
        return within(isOver, async () => {
          const living = await livingMembers(home);
          const one = living[Math.floor(scenario.random() * living.length)];
          return one && signal(one.pid, "SIGKILL") ? one.name : undefined;
        });
      case "tmux server":
        return within(isOver, async () => {
          const shown = await runCommand("tmux", ["display-message", "-p", "#{pid}"], { env: { ...process.env, TMUX_TMPDIR: sockets } });
          const pid = Number(shown.stdout.trim());
          return shown.exitCode === 0 && pid > 1 && signal(pid, "SIGKILL") ? "the tmux server" : undefined;
        });
      case "git merge":
      case "git commit":
      case "any git":
        return trap?.spring(GIT_WORDS[scenario.victim], scenario.random() * 0.012, isOver);
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

/**
 * A `git` before the real one on PATH. Once it is set, the next call with that word is killed a few milliseconds after its start:
 * none of ours lives long enough to be found among the processes.
 */
async function gitTrap(folder: string) {
  const bin = join(folder, "bin");
  const token = join(folder, "trap");
  await mkdir(bin);
  const real = ownProgram("git", process.env);
  const script = `#!/bin/sh
[ -f ${token} ] || exec ${real} "$@"
read -r word delay 2>/dev/null < ${token}
case "$word:$* " in -:*|"$word:$word "*|*" $word "*) ;; *) exec ${real} "$@" ;; esac
mv ${token} ${token}.sprung 2>/dev/null || exec ${real} "$@"
exec 3<&0
${real} "$@" <&3 &
victim=$!
sleep "$delay"
if kill -9 $victim 2>/dev/null; then echo "git $*" > ${token}.hit; else mv ${token}.sprung ${token}; fi
wait $victim
status=$?
[ $status -gt 128 ] && kill -9 $$
exit $status
`;
  await writeFile(join(bin, "git"), script);
  await chmod(join(bin, "git"), 0o755);
  return {
    bin,
    async spring(word: string, delayS: number, isOver: () => boolean): Promise<string | undefined> {
      await writeFile(token, `${word || "-"} ${delayS.toFixed(4)}\n`);
      for (;;) {
        const hit = await readFile(`${token}.hit`, "utf8").catch(() => undefined);
        if (hit !== undefined) return hit.trim();
        if (isOver()) {
          await rm(token, { force: true });
          return undefined;
        }
        await sleep(20);
      }
    },
  };
}

function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    // It ended by itself.
    return false;
  }
}
