import { setTimeout as sleep } from "node:timers/promises";
import { UserError } from "../protocol/errors.ts";
import { type AgentState, LEAD, type MemberStatus, type TeamBus } from "../protocol/team.ts";

const RUNNING: readonly MemberStatus[] = ["starting", "busy", "waiting", "idle", "unreachable"];
const LOOK_MS = 200;

/** The cap on running teammates. A further one waits; an idle one gives its place up, and a message resumes it later. */
export class RoomForTeammates {
  readonly #bus: TeamBus;
  readonly #max: number;
  readonly #onAsked: (name: string) => void;
  /** Taken, but not in presence yet. */
  readonly #reserved = new Set<string>();
  #queue: Promise<void> = Promise.resolve();

  /** `onAsked` hears of each that is to stop. */
  constructor(bus: TeamBus, max: number, onAsked: (name: string) => void) {
    this.#onAsked = onAsked;
    this.#bus = bus;
    this.#max = max;
  }

  /** Resolves when `name` may start; first come, first served. */
  take(name: string, signal: AbortSignal): Promise<void> {
    const turn = this.#queue.then(() => this.#takeNow(name, signal));
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  async #takeNow(name: string, signal: AbortSignal): Promise<void> {
    const asked = new Set<string>();
    for (;;) {
      if (signal.aborted) throw new UserError(`${name} was not started: interrupted.`);
      const states = (await this.#bus.presence.list()).filter((state) => state.name !== LEAD && RUNNING.includes(state.status));
      for (const state of states) this.#reserved.delete(state.name);
      const taken = new Set([...states.map((state) => state.name), ...this.#reserved]);
      if (taken.has(name) || taken.size < this.#max) {
        this.#reserved.add(name);
        // A spawn that fails never shows in presence; its place must not stay taken.
        setTimeout(() => this.#reserved.delete(name), 30_000).unref();
        return;
      }
      const idle = await this.#idleOne(states.filter((state) => !asked.has(state.name)));
      if (idle !== undefined) {
        asked.add(idle);
        this.#onAsked(idle);
        await this.#bus.mailbox.send(idle, { type: "shutdown_request", text: `${name} needs the place; a message resumes you` });
      }
      await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** One that has nothing to do: neither now, nor by a message that it is about to read. */
  async #idleOne(states: readonly AgentState[]): Promise<string | undefined> {
    for (const { name, status } of states) {
      if (status !== "idle" || (await this.#bus.mailbox.waitingFor(name)).waking > 0) continue;
      // Who takes its mail says first that it is busy, so one of the two looks shows it.
      const now = (await this.#bus.presence.list()).find((state) => state.name === name)?.status;
      if (now === "idle") return name;
    }
    return undefined;
  }
}
