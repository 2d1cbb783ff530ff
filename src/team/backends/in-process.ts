import type { PaneBackend } from "../../protocol/team.ts";
import { type Boot, takeBoot } from "../boot.ts";
import type { UntilReady } from "./process.ts";

type Options = {
  /** The worker of runtime, in this process. Resolves when its life is over. */
  startWorker: (boot: Boot, signal: AbortSignal) => Promise<unknown>;
  untilReady: UntilReady;
};

/** Teammates inside the lead's process: no start to pay for, but they end with it. Ignores `command`. */
export function inProcessBackend({ startWorker, untilReady }: Options): PaneBackend {
  const running = new Map<string, { stop: AbortController; life: Promise<void> }>();
  return {
    kind: "in-process",
    async spawn(teammate, _command, bootFile) {
      const boot = await takeBoot(bootFile);
      const stop = new AbortController();
      let how: string | undefined;
      const id = `${teammate.name}.${teammate.epoch}`;
      const life = startWorker(boot, stop.signal)
        .then(
          () => {
            how = "it ended";
          },
          (error: unknown) => {
            how = error instanceof Error ? error.message : String(error);
          },
        )
        .finally(() => running.delete(id));
      running.set(id, { stop, life });
      await untilReady(teammate, async () => how);
      return id;
    },
    async state(paneId) {
      return running.has(paneId) ? { alive: true } : { alive: false };
    },
    async kill(paneId) {
      const worker = running.get(paneId);
      worker?.stop.abort();
      await worker?.life;
    },
  };
}
