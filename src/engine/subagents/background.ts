import { randomBytes } from "node:crypto";
import { notification } from "./notification.ts";
import type { Subagent, SubagentEnd, SubagentInfo, SubagentRun } from "./subagent.ts";

const AUTO_BACKGROUND_MS = 120_000;

/** How long a call waits for a sub-agent before that goes on in the background; 0 for as long as it takes. */
export function getAutoBackgroundMs(env: Readonly<Record<string, string | undefined>>): number {
  const given = env.ROOCODE_AUTO_BACKGROUND_MS;
  return given !== undefined && /^\d{1,9}$/.test(given) ? Number(given) : AUTO_BACKGROUND_MS;
}

type Known = Subagent & {
  over: Promise<SubagentEnd>;
  control: AbortController;
  messages: string[];
  isTold: boolean;
  /** Of an earlier process. */
  isOld: boolean;
};
type Listeners = {
  /** One in the background has come to its end. */
  onNews?: () => void;
  /** The model knows how this one ended. */
  onTold?: (id: string) => void;
};

/**
 * The sub-agents of one conversation. Each ends with it; those in the background tell their end once, to whoever looks first:
 * `news`, or the one who reads their result.
 */
export class Subagents implements AsyncDisposable {
  readonly #known = new Map<string, Known>();
  readonly #inFront = new Map<Known, () => void>();
  readonly #listeners: Listeners;
  readonly #waiting = new Set<() => void>();
  #isClosed = false;

  constructor(listeners: Listeners = {}) {
    this.#listeners = listeners;
  }

  newId(): string {
    for (;;) {
      const id = `agent-${randomBytes(3).toString("hex")}`;
      if (!this.#known.has(id)) return id;
    }
  }

  /** By name or id; of two of one name the later. */
  find(to: string): Subagent | undefined {
    return this.#known.get(to) ?? [...this.#known.values()].findLast((agent) => agent.name === to);
  }

  list(): readonly Subagent[] {
    return [...this.#known.values()];
  }

  /** One of an earlier process: it can be looked at and written to. What was not told yet goes with the next request, and wakes nobody. */
  remember({ startedAt, ...info }: SubagentInfo & { startedAt: string }, end: SubagentEnd, isTold: boolean): void {
    const control = new AbortController();
    const { id, name, type, description, isTeam } = info;
    const about = { id, name, type, description, ...(isTeam ? { isTeam } : {}), startedAt, isBackground: true };
    this.#known.set(id, { ...about, end, over: Promise.resolve(end), control, messages: [], isTold, isOld: true });
  }

  /** Starts it, or lets it go on; `life` is one run to its end. */
  start(info: SubagentInfo, isBackground: boolean, life: (run: SubagentRun) => Promise<SubagentEnd>): Subagent {
    const control = new AbortController();
    const messages = this.#known.get(info.id)?.messages ?? [];
    const takeMessages = () => (messages.length === 0 ? undefined : messages.splice(0).join("\n\n"));
    const startedAt = new Date().toISOString();
    const agent: Known = {
      ...info,
      startedAt,
      isBackground,
      control,
      messages,
      isTold: false,
      isOld: false,
      over: Promise.resolve().then(() => this.#live(agent, life({ signal: control.signal, takeMessages }))),
    };
    // At the end of the list: it is the one that is spoken of last.
    this.#known.delete(info.id);
    this.#known.set(info.id, agent);
    if (this.#isClosed) control.abort();
    return agent;
  }

  /** Waits for its end, at most so long; "background" when it goes on there. An abort ends it. */
  async inFront(agent: Subagent, autoBackgroundMs: number, signal: AbortSignal): Promise<SubagentEnd | "background"> {
    const known = this.#known.get(agent.id);
    if (!known) throw new Error(`${agent.id} was not started.`);
    const interrupt = () => known.control.abort();
    let letGo: () => void = () => undefined;
    const released = new Promise<"background">((resolve) => {
      letGo = () => resolve("background");
    });
    this.#inFront.set(known, letGo);
    const timer = autoBackgroundMs > 0 ? setTimeout(letGo, autoBackgroundMs) : undefined;
    signal.addEventListener("abort", interrupt, { once: true });
    if (signal.aborted) interrupt();
    try {
      const first = await Promise.race([known.over, released]);
      // Both may be true: who has ended is told here.
      const end = known.end ?? first;
      known.isBackground = end === "background";
      if (end !== "background") this.#tell(known);
      return end;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", interrupt);
      this.#inFront.delete(known);
    }
  }

  /** Who waits for it to its end is told by that; an abort ends it. */
  async untilEnd(agent: Subagent, signal: AbortSignal): Promise<SubagentEnd> {
    const known = this.#known.get(agent.id);
    if (!known) throw new Error(`${agent.id} was not started.`);
    this.#tell(known);
    const interrupt = () => known.control.abort();
    signal.addEventListener("abort", interrupt, { once: true });
    if (signal.aborted) interrupt();
    try {
      return await known.over;
    } finally {
      signal.removeEventListener("abort", interrupt);
    }
  }

  /** Those that calls wait for go on in the background. Gives their number. */
  toBackground(): number {
    const waiting = [...this.#inFront.values()];
    this.#inFront.clear();
    for (const letGo of waiting) letGo();
    return waiting.length;
  }

  /** Goes with its next round; false when it does not run. */
  write(id: string, text: string): boolean {
    const known = this.#known.get(id);
    if (!known || known.end) return false;
    known.messages.push(text);
    return true;
  }

  /** Ends it with all that it started; false when it had ended before. */
  async stop(id: string): Promise<boolean> {
    const known = this.#known.get(id);
    if (!known || known.end) return false;
    // Who asks for it knows it then.
    this.#tell(known);
    known.control.abort();
    await known.over;
    return true;
  }

  /** Its end was read. */
  markTold(id: string): void {
    const known = this.#known.get(id);
    if (known?.end) this.#tell(known);
  }

  /** For the model: what ended in the background since it last heard of it. */
  news(): string | undefined {
    const ended = [...this.#known.values()].filter(isNews);
    for (const agent of ended) this.#tell(agent);
    return ended.length === 0 ? undefined : ended.map((agent) => notification(agent, agent.end)).join("\n");
  }

  /** Of this process: what an earlier one left untold waits for the next message. */
  get hasNews(): boolean {
    return [...this.#known.values()].some((agent) => isNews(agent) && !agent.isOld);
  }

  /** Whether the model knows how it ended, or will by what it waits for. */
  isTold(id: string): boolean {
    return this.#known.get(id)?.isTold ?? false;
  }

  get running(): readonly Subagent[] {
    return [...this.#known.values()].filter((agent) => agent.end === undefined);
  }

  /** Resolves when there are news, or nothing runs, or on abort. */
  async untilNews(signal: AbortSignal): Promise<void> {
    if (this.hasNews || this.running.length === 0 || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener("abort", wake, { once: true });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    for (const { control } of this.#known.values()) control.abort();
    await Promise.all([...this.#known.values()].map(({ over }) => over));
  }

  #tell(agent: Known): void {
    if (agent.isTold) return;
    agent.isTold = true;
    this.#listeners.onTold?.(agent.id);
  }

  async #live(agent: Known, life: Promise<SubagentEnd>): Promise<SubagentEnd> {
    const end = await life.catch((error: unknown): SubagentEnd => {
      return { status: "failed", text: "", notes: [error instanceof Error ? error.message : String(error)], turns: 0 };
    });
    agent.end = end;
    for (const wake of [...this.#waiting]) wake();
    // One that a call waits for is told by the call.
    if (agent.isBackground && !this.#inFront.has(agent) && !agent.isTold) this.#listeners.onNews?.();
    return end;
  }
}

function isNews(agent: Known): agent is Known & { end: SubagentEnd } {
  return agent.isBackground && agent.end !== undefined && !agent.isTold;
}
