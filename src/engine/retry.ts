import { setTimeout as delay } from "node:timers/promises";
import type { ModelClient, ModelErrorKind, ModelEvent, ModelRequest } from "../protocol/model.ts";

/** `attempt` is the number of the try that comes next, of `max` in all. */
export type RetriedEvent =
  | ModelEvent
  | { type: "retry"; attempt: number; max: number; delayMs: number; kind: ModelErrorKind }
  /** What this attempt has shown is void: it begins again. */
  | { type: "attempt_reset"; reason: string };

export type RetryOptions = {
  /** Rejects when the signal aborts. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
  /** From 0 to 1. */
  random?: () => number;
  now?: () => Date;
};
export interface RetryingClient {
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<RetriedEvent>;
}

type Failed = Extract<ModelEvent, { type: "error" }>;
type Budget = { max: number; firstDelayMs: number };

const CAP_MS = 32_000;
/** A request that brought nothing, and an answer that broke off, are counted apart. */
const REQUEST: Budget = { max: 8, firstDelayMs: 500 };
const STREAM: Budget = { max: 4, firstDelayMs: 1000 };
const LONGEST_WAIT_MS = 60_000;
const BROKEN_STREAM: ReadonlySet<ModelErrorKind> = new Set(["truncated", "stalled", "parse"]);

/**
 * Repeats a request as it is, the same object each time, until an answer is whole. Tools run only after that, so no repetition
 * runs one twice. As with a ModelClient nothing is thrown, and an abort ends the stream without `end`.
 */
export function withRetry(client: ModelClient, options: RetryOptions = {}): RetryingClient {
  const sleep = options.sleep ?? ((ms, signal) => delay(ms, undefined, { signal }));
  const random = options.random ?? Math.random;
  const now = options.now ?? (() => new Date());
  return {
    async *stream(request, signal) {
      const tries = new Map<Budget, number>();
      for (;;) {
        let shown = false;
        let failed: Failed | undefined;
        let end: ModelEvent | undefined;
        for await (const event of client.stream(request, signal)) {
          if (event.type === "error") failed = event;
          else if (event.type === "end") end = event;
          else {
            shown = true;
            yield event;
          }
        }
        if (!end || signal.aborted) return;
        if (!failed) return yield end;
        const budget = shown || BROKEN_STREAM.has(failed.kind) ? STREAM : REQUEST;
        const attempt = (tries.get(budget) ?? 1) + 1;
        tries.set(budget, attempt);
        const givenUp = reasonToStop(failed, attempt, budget, now());
        if (givenUp !== undefined) {
          yield { ...failed, text: givenUp };
          return yield end;
        }
        // Full jitter: teammates share one key, and must not come back all at once.
        const delayMs = failed.retryAfterMs ?? Math.round(random() * Math.min(CAP_MS, budget.firstDelayMs * 2 ** (attempt - 2)));
        if (shown) yield { type: "attempt_reset", reason: failed.text };
        yield { type: "retry", attempt, max: budget.max, delayMs, kind: failed.kind };
        await sleep(delayMs, signal).catch(() => undefined);
        if (signal.aborted) return;
      }
    },
  };
}

/** The text of the error when there is no further try. */
function reasonToStop(failed: Failed, attempt: number, budget: Budget, now: Date): string | undefined {
  if (!failed.retryable) return failed.text;
  if (attempt > budget.max) return `${failed.text} (given up after ${budget.max} tries)`;
  const wait = failed.retryAfterMs ?? 0;
  if (wait <= LONGEST_WAIT_MS) return undefined;
  const until = new Date(now.getTime() + wait).toISOString();
  return `${failed.text} (the server asks to wait ${Math.ceil(wait / 1000)} s, until ${until})`;
}
