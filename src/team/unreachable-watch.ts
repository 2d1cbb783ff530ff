import type { AgentState, TeamTask } from "../protocol/team.ts";

const AFTER_MS = 30_000;

/**
 * A member whose process is suspended is not dead: it keeps its claims, since it may go on at any moment. The lead is told once each
 * time, after a while, what it holds; whether others shall have that is the lead's word.
 */
export class UnreachableWatch {
  readonly #afterMs: number;
  readonly #now: () => number;
  readonly #since = new Map<string, { at: number; isTold: boolean }>();

  constructor(afterMs = AFTER_MS, now: () => number = Date.now) {
    this.#afterMs = afterMs;
    this.#now = now;
  }

  /** Of the last look. */
  heldFor(ms: number): string[] {
    return [...this.#since].flatMap(([name, { at }]) => (this.#now() - at >= ms ? [name] : []));
  }

  look(states: readonly AgentState[], tasks: readonly TeamTask[]): string[] {
    const held = states.filter((state) => state.status === "unreachable").map(({ name }) => name);
    for (const name of this.#since.keys()) if (!held.includes(name)) this.#since.delete(name);
    return held.flatMap((name) => {
      const known = this.#since.get(name) ?? { at: this.#now(), isTold: false };
      this.#since.set(name, known);
      if (known.isTold || this.#now() - known.at < this.#afterMs) return [];
      known.isTold = true;
      return [textOf(name, Math.round((this.#now() - known.at) / 1000), tasks)];
    });
  }
}

function textOf(name: string, seconds: number, tasks: readonly TeamTask[]): string {
  const own = tasks.filter((task) => task.status === "in_progress" && task.claim?.owner === name);
  const holds = own.map((task) => `${task.id} (${task.subject})`).join(", ");
  const what =
    own.length === 0
      ? "It holds no task."
      : `It holds ${holds}, which nobody can take while its process is there. To have it done by another, take it away with TaskUpdate, owner "": what ${name} says of it later does not count.`;
  return `<task-notification from="${name}" status="unreachable">\n${name} has not run for ${seconds} s: its process is suspended, not dead, and goes on where it was once it runs again. ${what}\n</task-notification>`;
}
