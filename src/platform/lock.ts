import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";

/** One at a time over all processes of this machine, for settings, the memory index and worktree creation; never for mail or tasks. */
export async function withLock<Result>(path: string, action: () => Promise<Result>): Promise<Result> {
  // It changes node:fs when it loads, which costs a start that locks nothing.
  const { default: lockfile } = await import("proper-lockfile");
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  let compromised: Error | undefined;
  const release = await lockfile.lock(path, {
    realpath: false,
    stale: 15_000,
    update: 5_000,
    retries: { retries: 200, minTimeout: 20, maxTimeout: 200, factor: 1.3 },
    // Without this the library throws inside a timer and ends the process.
    onCompromised: (error) => {
      compromised = error;
    },
  });
  try {
    return await action();
  } finally {
    if (!compromised) await release();
  }
}
