import { setTimeout as sleep } from "node:timers/promises";
import { isAlive } from "../../platform/process.ts";
import { watchFolder } from "../../platform/watch.ts";
import { UserError } from "../../protocol/errors.ts";
import type { ProcessIdentity } from "../../protocol/team.ts";
import { readRoster } from "../../team/bus/team-bus.ts";
import { LogReader, logPath, parseLogLine } from "../../team/team-log.ts";

/** A process that is killed writes nothing; this looks at process ids alone, not at files. */
const LIVENESS_MS = 5000;
/** Between two looks where the system gives no file events. */
const BLIND_SWEEP_MS = 1000;
/** From a team's last word to the end of its tidying. */
const TIDY_MS = 30_000;
/** From its last line to the move of its record. */
const SETTLE_MS = 700;

type Follow = {
  folder: string;
  /** Awaited: what comes meanwhile is one more call. The first one comes at once. */
  onChange: () => Promise<void>;
  signal: AbortSignal;
  livenessMs?: number;
};

/** Whether nothing more will happen, as far as one can see. */
export async function isOver(folder: string): Promise<boolean> {
  const run = new RunState(logPath(folder), () => undefined);
  await run.readOn();
  run.stop();
  return run.isOver || !(await processesOf(folder)).some(isAlive);
}

/** Calls back when something happens in a team, by file events. Resolves when the team has ended, or nobody of it is there, or by the signal. */
export async function followTeam({ folder, onChange, signal, livenessMs = LIVENESS_MS }: Follow): Promise<void> {
  const bell = new Doorbell();
  const ring = () => bell.ring();
  const run = new RunState(logPath(folder), ring);
  // The log's folder: no event of it is left out, as those of a single file may be that come close together.
  const watcher = watchFolder(folder, ring);
  signal.addEventListener("abort", ring, { once: true });
  let processes: ProcessIdentity[] = [];
  let living = -1;
  const timer = setInterval(
    () => {
      if (!watcher || processes.filter(isAlive).length !== living) ring();
    },
    watcher ? livenessMs : BLIND_SWEEP_MS,
  );
  ring();
  try {
    while (!signal.aborted) {
      await bell.rung();
      if (signal.aborted) return;
      await run.readOn();
      processes = await processesOf(folder);
      living = processes.filter(isAlive).length;
      await onChange();
      if (run.isOver || living === 0) {
        // An abort ends the wait.
        await sleep(SETTLE_MS, undefined, { signal }).catch(() => undefined);
        return;
      }
    }
  } finally {
    clearInterval(timer);
    run.stop();
    signal.removeEventListener("abort", ring);
    watcher?.close();
  }
}

/** Of the lead and its teammates; none where the record was moved away, which is the last that happens. */
async function processesOf(folder: string): Promise<ProcessIdentity[]> {
  try {
    const team = await readRoster(folder);
    return [team.lead?.process, ...team.members.map((member) => member.process)].filter((one) => one !== undefined);
  } catch (error) {
    if (error instanceof UserError) return [];
    throw error;
  }
}

/** Whether the team's run is over, tidied up where it was to be. */
class RunState {
  readonly #log: LogReader;
  readonly #onLate: () => void;
  #exitCode: number | undefined;
  #isTidy = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(path: string, onLate: () => void) {
    this.#log = new LogReader(path);
    this.#onLate = onLate;
  }

  get isOver(): boolean {
    return this.#exitCode !== undefined && (this.#exitCode !== 0 || this.#isTidy);
  }

  async readOn(): Promise<void> {
    for (const line of await this.#log.read()) {
      // Most lines are long and something else.
      if (!/"type":"(?:ended|cleaned|backend)"/.test(line)) continue;
      const event = parseLogLine(line)?.event;
      if (event?.type === "ended") this.#exitCode = event.exitCode;
      else if (event?.type === "cleaned") this.#isTidy = true;
      else if (event?.type === "backend") [this.#exitCode, this.#isTidy] = [undefined, false];
    }
    // A team whose branches are left is not tidied.
    if (this.#exitCode === 0 && !this.#isTidy)
      this.#timer ??= setTimeout(() => {
        this.#isTidy = true;
        this.#onLate();
      }, TIDY_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/** Remembers one ring, however often it rang. */
class Doorbell {
  #hasRung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#hasRung = true;
    this.#wake?.();
  }

  async rung(): Promise<void> {
    if (!this.#hasRung)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    this.#wake = undefined;
    this.#hasRung = false;
  }
}
