import type { SessionEntry } from "../../protocol/session.ts";
import type { Change, SnapshotStore } from "./snapshot-store.ts";

type Entry = Extract<SessionEntry, { type: "checkpoint" }>;
/** What the files were before and after a step of the agent; `turn` counts the person's messages from 1. */
export type Step = { turn: number; before: string; after?: string };

export type FilesPlan = {
  /** What the agent did to these is undone. */
  restore: Change[];
  /** Changed by somebody else, or by nobody knows whom: they stay as they are. */
  foreign: Change[];
};

/**
 * Pairs of snapshots around each step in which the agent may have changed files. What differs between the end of one and the
 * beginning of the next was somebody else: that is how foreign changes are told apart.
 */
export class Checkpoints {
  readonly #store: SnapshotStore;
  readonly #append: (entry: Entry) => Promise<void>;
  readonly #steps: Step[];
  readonly #onProblem: (text: string) => void;
  #isBroken = false;
  #running: Promise<unknown> = Promise.resolve();

  /** `onProblem` is told once when snapshots fail: the work goes on without them. */
  constructor(
    store: SnapshotStore,
    append: (entry: Entry) => Promise<void>,
    onProblem: (text: string) => void,
    earlier: readonly Entry[] = [],
  ) {
    this.#store = store;
    this.#append = append;
    this.#onProblem = onProblem;
    this.#steps = stepsOf(earlier);
  }

  /** Before the first call of a round that may change files; waits for what is still being looked at. Paths are absolute. */
  async before(turn: number, paths: readonly string[] = []): Promise<void> {
    await this.#step(async () => {
      for (const path of paths) this.#store.name(path);
      const open = this.#steps.at(-1);
      if (open && open.after === undefined && open.turn === turn) return;
      const step: Step = { turn, before: await this.#store.take() };
      this.#steps.push(step);
      await this.#append({ type: "checkpoint", at: new Date().toISOString(), id: step.before, turn: step.turn, phase: "before" });
    });
  }

  /** After the round; may run beside the next model call. */
  async after(turn: number): Promise<void> {
    await this.#step(async () => {
      const open = this.#steps.at(-1);
      if (!open || open.after !== undefined || open.turn !== turn) return;
      open.after = await this.#store.take();
      await this.#append({ type: "checkpoint", at: new Date().toISOString(), id: open.after, turn: open.turn, phase: "after" });
    });
  }

  /** What going back to the moment before this turn would do to the files. */
  async plan(turn: number): Promise<FilesPlan> {
    return this.#inTurn(() => this.#planNow(turn));
  }

  /** Gives the paths that could not be brought back, those that somebody else has changed since the plan was made among them. */
  async restore(turn: number, paths: readonly string[]): Promise<string[]> {
    return this.#inTurn(async () => {
      const first = this.#steps.find((step) => step.turn >= turn);
      if (!first || paths.length === 0) return [];
      const own = new Set((await this.#planNow(turn)).restore.map(({ path }) => path));
      const left = await this.#store.restore(
        first.before,
        paths.filter((path) => own.has(path)),
      );
      // Undone work is nobody's change: what comes later is measured from here.
      this.#steps.splice(this.#steps.indexOf(first));
      return [...paths.filter((path) => !own.has(path)), ...left];
    });
  }

  async #planNow(turn: number): Promise<FilesPlan> {
    const steps = this.#steps.filter((step) => step.turn >= turn);
    const first = steps[0];
    if (!first) return { restore: [], foreign: [] };
    const now = await this.#store.take();
    const own = new Set<string>();
    const foreign = new Set<string>();
    for (const [index, { before, after }] of steps.entries()) {
      const next = steps[index + 1]?.before ?? now;
      // A process that ended in the middle of a step left nobody to say which changes were its own.
      for (const { path } of after === undefined ? [] : await this.#store.changes(before, after)) own.add(path);
      for (const { path } of await this.#store.changes(after ?? before, next)) foreign.add(path);
    }
    const changes = await this.#store.changes(first.before, now);
    return {
      restore: changes.filter(({ path }) => own.has(path) && !foreign.has(path)),
      foreign: changes.filter(({ path }) => foreign.has(path)),
    };
  }

  async #step(action: () => Promise<void>): Promise<void> {
    if (this.#isBroken) return;
    await this.#inTurn(action).catch((error: unknown) => {
      if (!this.#isBroken)
        this.#onProblem(`File changes can't be undone in this session: ${error instanceof Error ? error.message : error}`);
      this.#isBroken = true;
    });
  }

  /** One after another: they share an index. */
  #inTurn<Result>(action: () => Promise<Result>): Promise<Result> {
    const result = this.#running.then(action, action);
    this.#running = result.catch(() => undefined);
    return result;
  }
}

function stepsOf(entries: readonly Entry[]): Step[] {
  const steps: Step[] = [];
  for (const { phase, turn, id } of entries) {
    const open = steps.at(-1);
    if (phase === "before") steps.push({ turn, before: id });
    else if (open && open.turn === turn && open.after === undefined) open.after = id;
  }
  return steps;
}
