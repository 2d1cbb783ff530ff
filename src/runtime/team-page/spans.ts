import type { TeamEvent, TeamTask } from "../../protocol/team.ts";

/** Milliseconds since 1970. */
export type Span = { from: number; to: number };
type Work = Span & { isOpen: boolean };
/** `end` is absent while the owner is at it; `died` and `passed on`: the task went to another. */
export type Claim = Span & { task: string; owner?: string; end?: TeamTask["status"] | "died" | "passed on" };

/** When each agent worked: from the first sign of a run to its end. */
export class BusySpans {
  readonly #spans = new Map<string, Work[]>();

  see({ agent, event }: TeamEvent, at: number): void {
    switch (event.type) {
      case "turn_start":
      case "tool_use":
        this.#work(agent, at);
        return;
      case "tool_result":
      case "round_end":
      case "retry":
        this.#extend(agent, at);
        return;
      case "loop_complete":
        this.#extend(agent, at);
        this.#close(agent);
        return;
      // A process that was killed says nothing of its end: the last sign of it counts.
      case "dead":
        this.#close(event.name);
        return;
      // The first event of a run of the team, and the last one. Not a member's "ready": its own events may come before.
      case "backend":
      case "ended":
        for (const name of this.#spans.keys()) this.#close(name);
        return;
      default:
        return;
    }
  }

  get agents(): string[] {
    return [...this.#spans.keys()];
  }

  /** One that is still open reaches to `now`. */
  of(agent: string, now: number): Span[] {
    return (this.#spans.get(agent) ?? []).map(({ from, to, isOpen }) => ({ from, to: isOpen ? Math.max(to, now) : to }));
  }

  #work(agent: string, at: number): void {
    const spans = this.#spans.get(agent) ?? [];
    this.#spans.set(agent, spans);
    if (spans.at(-1)?.isOpen) this.#extend(agent, at);
    else spans.push({ from: at, to: at, isOpen: true });
  }

  #extend(agent: string, at: number): void {
    const last = this.#spans.get(agent)?.at(-1);
    if (last?.isOpen) last.to = Math.max(last.to, at);
  }

  #close(agent: string): void {
    const last = this.#spans.get(agent)?.at(-1);
    if (last) last.isOpen = false;
  }
}

/** Who had which task from when to when. */
export class TaskClaims {
  readonly #claims: Claim[] = [];
  readonly #open = new Map<string, Claim>();

  see({ event }: TeamEvent, at: number): void {
    if (event.type === "dead") {
      for (const claim of this.#open.values()) if (claim.owner === event.name) this.#close(claim, at, "died");
      return;
    }
    if (event.type !== "task") return;
    const open = this.#open.get(event.id);
    if (event.status !== "in_progress") {
      if (open) this.#close(open, at, event.status);
      return;
    }
    if (open && open.owner === event.owner) return;
    if (open) this.#close(open, at, "passed on");
    const claim: Claim = { task: event.id, from: at, to: at, ...(event.owner === undefined ? {} : { owner: event.owner }) };
    this.#claims.push(claim);
    this.#open.set(event.id, claim);
  }

  /** By task, in their order; one that is still open reaches to `now`. */
  byTask(now: number): Map<string, Claim[]> {
    const found = new Map<string, Claim[]>();
    for (const claim of this.#claims) {
      const shown = claim.end === undefined ? { ...claim, to: Math.max(claim.to, now) } : claim;
      found.set(claim.task, [...(found.get(claim.task) ?? []), shown]);
    }
    return found;
  }

  #close(claim: Claim, at: number, end: NonNullable<Claim["end"]>): void {
    claim.to = Math.max(claim.from, at);
    claim.end = end;
    this.#open.delete(claim.task);
  }
}
