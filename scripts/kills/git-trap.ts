import { constants } from "node:fs";
import { chmod, mkdir, open, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ownProgram } from "../../src/platform/own-programs.ts";
import { runCommand } from "../../src/platform/process.ts";
import { commandLine } from "../../src/platform/process-tree.ts";
import { processesIn } from "./audit.ts";

export type GitTrap = {
  /** Before the real one on PATH. */
  bin: string;
  /** Kills one call of those that the pattern fits, some milliseconds after its start; so many are let go before. Gives what it was. */
  spring(pattern: string, skipped: number, delayMs: () => number, isOver: () => boolean): Promise<string | undefined>;
  close(): Promise<void>;
};

/**
 * A `git` that waits, while the trap is set, until it was seen and may go on: no git of ours lives long enough to be found among the
 * processes. It lies in the home, which commands in the sandbox see but may not write to, so it speaks through pipes with a name.
 */
export async function gitTrap(home: string): Promise<GitTrap> {
  const bin = join(home, "trap");
  await mkdir(bin);
  const [pattern, seen, go] = ["pattern", "seen", "go"].map((name) => join(bin, name)) as [string, string, string];
  const start = `/bin/sh ${join(bin, "git")}`;
  const real = ownProgram("git", process.env);
  const made = await runCommand("mkfifo", ["-m", "666", seen, go]);
  if (made.exitCode !== 0) throw new Error(made.stderr);
  await writeFile(
    join(bin, "git"),
    `#!/bin/sh
if read -r wanted 2>/dev/null < ${pattern} && echo "$*" | grep -qE -e "$wanted"; then
  printf s > ${seen}
  read -r _ < ${go}
fi
exec ${real} "$@"
`,
  );
  await chmod(join(bin, "git"), 0o755);
  // Open for both, so that nobody who opens them waits for the other side.
  const [seenPipe, goPipe] = await Promise.all([seen, go].map((path) => open(path, constants.O_RDWR | constants.O_NONBLOCK)));
  if (!seenPipe || !goPipe) throw new Error("The pipes can't be opened.");

  async function waiting(): Promise<number | undefined> {
    return (await processesIn(bin)).find((pid) => commandLine(pid).startsWith(start));
  }

  return {
    bin,
    async spring(wanted, skipped, delayMs, isOver) {
      let seenBefore = 0;
      await writeFile(pattern, `${wanted}\n`);
      try {
        while (!isOver()) {
          const { bytesRead: callers } = await seenPipe.read(Buffer.alloc(64), 0, 64).catch(() => ({ bytesRead: 0 }));
          if (callers === 0) {
            await sleep(5);
            continue;
          }
          const pid = await waiting();
          const line = pid === undefined ? "" : commandLine(pid).slice(start.length);
          await goPipe.write("\n".repeat(callers));
          seenBefore += callers;
          if (seenBefore <= skipped) continue;
          await sleep(delayMs());
          // Over before: the next call is as good.
          if (pid !== undefined && commandLine(pid) !== "" && process.kill(pid, "SIGKILL")) return `git${line}`;
        }
        return undefined;
      } finally {
        await rm(pattern, { force: true });
        // Others that were caught at the same time.
        await goPipe.write("\n".repeat(16));
      }
    },
    async close() {
      await Promise.all([seenPipe.close(), goPipe.close()]);
    },
  };
}
