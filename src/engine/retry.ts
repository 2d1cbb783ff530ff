import { setTimeout as delay } from "node:timers/promises";
import type { ModelClient, ModelErrorKind, ModelEvent, ModelRequest } from "../protocol/model.ts";
import type { FallbackModel } from "./fallback.ts";
import { Fallback } from "./fallback.ts";

/**
 * `attempt` is the number of the try that comes next, of `max` in all. `reason` tells what is otherwise in it. A long wait is told
 * again each minute, with what is left of it.
 */
export type RetriedEvent =
  | ModelEvent
  | { type: "retry"; attempt: number; max: number; delayMs: number; kind: ModelErrorKind; reason?: string }
  /** What this attempt has shown is void: it begins again. */
  | { type: "attempt_reset"; reason: string };

/** Times (ms since 1970) before which others heard that the server wants no request. */
export interface SharedWait {
  /** Of the past when nothing holds; asked before each try. */
  until(): number;
  hold(untilMs: number): void;
}

export type RetryOptions = {
  /** Of agents that use one server with one key: what it tells one, all keep to. */
  shared?: SharedWait | undefined;
  /** A server that asks for more than a minute gets it; without this the request fails and names the time. */
  longWaits?: boolean;
  /** Asked when the model is overloaded, rate-limited or out of reach, after all its tries, and then directly for five minutes. */
  fallback?: FallbackModel | undefined;
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
type End = Extract<ModelEvent, { type: "end" }>;
type Budget = { max: number; firstDelayMs: number };
type Attempt = { shown: boolean; failed?: Failed; end?: End };

const CAP_MS = 32_000;
/** A request that brought nothing, and an answer that broke off, are counted apart. */
const REQUEST: Budget = { max: 8, firstDelayMs: 500 };
const STREAM: Budget = { max: 4, firstDelayMs: 1000 };
/** Each adjustment is made once in a client's life; this only bounds one that has a bug. */
const MOST_ADJUSTMENTS = 8;
const LONGEST_WAIT_MS = 60_000;
const LONGEST_SHARED_MS = 3_600_000;
/** A timer may fire a moment early: who has waited is not to wait again. */
const TIMER_SLACK_MS = 10;
const SPREAD_MS = 1_000;
const BROKEN_STREAM: ReadonlySet<ModelErrorKind> = new Set(["truncated", "stalled", "parse"]);

/**
 * Repeats a request as it is, the same object each time, until an answer is whole. Tools run only after that, so no repetition
 * runs one twice. As with a ModelClient nothing is thrown, and an abort ends the stream without `end`.
 */
export function withRetry(client: ModelClient, options: RetryOptions = {}): RetryingClient {
  const tools = {
    sleep: options.sleep ?? ((ms: number, signal: AbortSignal) => delay(ms, undefined, { signal })),
    random: options.random ?? Math.random,
    now: options.now ?? (() => new Date()),
    // Another model at once is better than this one in an hour.
    longWaits: options.longWaits === true && options.fallback === undefined,
    // The other model's server has limits of its own.
    shared: undefined,
  };
  const fallback = options.fallback ? new Fallback(options.fallback, tools.now) : undefined;
  return {
    async *stream(request, signal) {
      if (fallback?.isActive) return yield* insist(fallback.client, fallback.request(request), signal, tools);
      const outcome = yield* attempts(client, request, signal, { ...tools, shared: options.shared });
      if (!outcome) return;
      const { failed, end, shown } = outcome;
      if (!failed || !fallback?.canHelp(failed.kind)) {
        if (failed) yield failed;
        return yield end;
      }
      fallback.activate();
      if (shown) yield { type: "attempt_reset", reason: failed.text };
      yield { type: "retry", attempt: 1, max: 1, delayMs: 0, kind: failed.kind, reason: fallback.notice(request.model, failed.text) };
      yield* insist(fallback.client, fallback.request(request), signal, tools);
    },
  };
}

type Tools = Required<Pick<RetryOptions, "sleep" | "random" | "now" | "longWaits">> & Pick<RetryOptions, "shared">;
type Outcome = { failed: Failed | undefined; end: End; shown: boolean };

async function* insist(client: ModelClient, request: ModelRequest, signal: AbortSignal, tools: Tools): AsyncGenerator<RetriedEvent> {
  const outcome = yield* attempts(client, request, signal, tools);
  if (outcome?.failed) yield outcome.failed;
  if (outcome) yield outcome.end;
}

/** All tries with one model. Returns how it ended, or undefined after an abort; `shown` is what the last try has shown. */
async function* attempts(
  client: ModelClient,
  request: ModelRequest,
  signal: AbortSignal,
  tools: Tools,
): AsyncGenerator<RetriedEvent, Outcome | undefined> {
  const tries = new Map<Budget, number>();
  let adjustments = 0;
  for (;;) {
    for (let held = heldFor(tools); held > 0; held = heldFor(tools)) {
      yield { type: "retry", attempt: tries.get(REQUEST) ?? 1, max: REQUEST.max, delayMs: held, kind: "rate_limit" };
      await tools.sleep(held, signal).catch(() => undefined);
      if (signal.aborted) return undefined;
    }
    const { shown, failed, end }: Attempt = yield* tryOnce(client, request, signal);
    if (!end || signal.aborted) return undefined;
    if (!failed) return { failed, end, shown };
    if (failed.adjusted !== undefined) {
      adjustments += 1;
      if (adjustments > MOST_ADJUSTMENTS) return { failed, end, shown };
      yield { type: "retry", attempt: 2, max: 2, delayMs: 0, kind: failed.kind, reason: failed.adjusted };
      continue;
    }
    if (failed.kind === "rate_limit" && failed.retryAfterMs) tools.shared?.hold(tools.now().getTime() + failed.retryAfterMs);
    const budget = shown || BROKEN_STREAM.has(failed.kind) ? STREAM : REQUEST;
    const attempt = (tries.get(budget) ?? 1) + 1;
    tries.set(budget, attempt);
    const givenUp = reasonToStop(failed, attempt, budget, tools);
    if (givenUp !== undefined) return { failed: { ...failed, text: givenUp }, end, shown };
    // Full jitter: teammates share one key, and must not come back all at once.
    const delayMs = failed.retryAfterMs ?? Math.round(tools.random() * Math.min(CAP_MS, budget.firstDelayMs * 2 ** (attempt - 2)));
    if (shown) yield { type: "attempt_reset", reason: failed.text };
    for (let left = delayMs; left >= 0; left -= LONGEST_WAIT_MS) {
      yield { type: "retry", attempt, max: budget.max, delayMs: left, kind: failed.kind };
      await tools.sleep(Math.min(left, LONGEST_WAIT_MS), signal).catch(() => undefined);
      if (signal.aborted) return undefined;
      if (left <= LONGEST_WAIT_MS) break;
    }
  }
}

/** How long a limit that another one met keeps this request back; a little more than that, so that not all come back at once. */
function heldFor({ shared, now, random, longWaits }: Tools): number {
  const left = (shared?.until() ?? 0) - now().getTime();
  // Too long to sit out on another's word: the server says itself how long.
  if (left < TIMER_SLACK_MS || left > (longWaits ? LONGEST_SHARED_MS : LONGEST_WAIT_MS)) return 0;
  return Math.min(LONGEST_WAIT_MS, Math.ceil(left) + Math.round(random() * SPREAD_MS));
}

async function* tryOnce(client: ModelClient, request: ModelRequest, signal: AbortSignal): AsyncGenerator<RetriedEvent, Attempt> {
  const attempt: Attempt = { shown: false };
  for await (const event of client.stream(request, signal)) {
    if (event.type === "error") attempt.failed = event;
    else if (event.type === "end") attempt.end = event;
    else {
      attempt.shown = true;
      yield event;
    }
  }
  return attempt;
}

/** The text of the error when there is no further try. */
function reasonToStop(failed: Failed, attempt: number, budget: Budget, { now, longWaits }: Tools): string | undefined {
  if (!failed.retryable) return failed.text;
  if (attempt > budget.max) return `${failed.text} (given up after ${budget.max} tries)`;
  const wait = failed.retryAfterMs ?? 0;
  if (wait <= LONGEST_WAIT_MS || longWaits) return undefined;
  const until = new Date(now().getTime() + wait).toISOString();
  return `${failed.text} (the server asks to wait ${Math.ceil(wait / 1000)} s, until ${until})`;
}
