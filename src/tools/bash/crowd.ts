import { readFileSync } from "node:fs";
import { freezeGroup, thawGroup } from "../../platform/process-tree.ts";
import type { RunningCommand } from "./start-command.ts";

/** No build or test needs that many at once; a fork bomb has them within a second. */
export const MAX_PROCESSES = 500;
const LOOK_MS = 50;
/** Of that number: once the machine has as many threads more than before, its own processes are counted. */
const SUSPICIOUS = 0.4;

/**
 * Calls `tooMany` when a command has started too many processes. There is no limit that the kernel would hold for us: RLIMIT_NPROC counts
 * all of the user's processes and not root's, a cgroup needs rights. Looking at the machine's own count costs 30 microseconds.
 * What gives each of its processes a session of its own is not frozen by the group and may win: only a sandbox with a limit holds that.
 */
export function watchCrowd(command: RunningCommand, tooMany: () => void, max = MAX_PROCESSES): Disposable {
  if (process.platform !== "linux") return { [Symbol.dispose]: () => undefined };
  let usual = threads();
  const timer = setInterval(() => {
    const now = threads();
    if (now - usual < max * SUSPICIOUS) return;
    // While it stands still this process gets the processor, and counting ends.
    freezeGroup(command.pid);
    const { length } = command.living();
    if (length > max) {
      clearInterval(timer);
      tooMany();
      return;
    }
    thawGroup(command.pid);
    usual = now - (max * SUSPICIOUS) / 2;
  }, LOOK_MS);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function threads(): number {
  try {
    return Number(/\/(\d+)/.exec(readFileSync("/proc/loadavg", "latin1"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
