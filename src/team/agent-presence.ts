import type { AgentEvent } from "../protocol/agent.ts";
import type { ModelErrorKind, Spent } from "../protocol/model.ts";
import type { Presence } from "../protocol/team.ts";

type Retry = Extract<AgentEvent, { type: "retry" }>;

/** Keeps a running member's record true to what its agent goes through: that it waits for its model, and what it has spent. */
export class AgentPresence {
  readonly #presence: Presence;
  readonly #name: string;
  readonly #spent: () => Spent;
  #isHeldUp = false;

  constructor(presence: Presence, name: string, spent: () => Spent) {
    this.#presence = presence;
    this.#name = name;
    this.#spent = spent;
  }

  /** Of one who works for this member, `worker` is the name. */
  observe(event: AgentEvent, worker?: string): void {
    switch (event.type) {
      case "retry":
        // What is otherwise this time is tried at once.
        if (event.reason !== undefined) return;
        this.#isHeldUp = true;
        this.#busy(worker === undefined ? retryText(event) : `${worker}: ${retryText(event)}`);
        break;
      case "message":
        if (event.usage) this.#goOn();
        break;
      case "compacted":
      case "spent":
        this.#goOn();
        break;
      case "turn_start":
      case "stream_text":
      case "stream_thinking":
      case "tool_use":
      case "loop_complete":
        if (this.#isHeldUp) this.#goOn();
        break;
    }
  }

  #goOn(): void {
    this.#isHeldUp = false;
    this.#busy();
  }

  #busy(detail?: string): void {
    const state = { name: this.#name, status: "busy", at: new Date().toISOString(), spent: this.#spent() } as const;
    // On a full disk the member works on; its next word is tried again.
    this.#presence.beat({ ...state, ...(detail === undefined ? {} : { detail }) }).catch(() => undefined);
  }
}

/** `rate limited: retry 3 of 8 in 12 s` */
export function retryText({ kind, attempt, max, delayMs, reason }: Retry): string {
  return reason ?? `${wordsFor(kind)}: retry ${attempt} of ${max} in ${Math.round(delayMs / 100) / 10} s`;
}

function wordsFor(kind: ModelErrorKind): string {
  switch (kind) {
    case "rate_limit":
      return "rate limited";
    case "overloaded":
      return "model overloaded";
    case "server":
      return "server error";
    case "network":
      return "network error";
    case "truncated":
    case "stalled":
    case "parse":
      return "answer broke off";
    case "auth":
    case "invalid_request":
    case "context_length":
    case "quota":
      return kind;
  }
}
