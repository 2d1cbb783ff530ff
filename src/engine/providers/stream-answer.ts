import type { IncomingMessage } from "node:http";
import type { ModelEvent } from "../../protocol/model.ts";
import { isRecord } from "../../protocol/record.ts";
import { type Answer, readAnswer, StreamError } from "./answer.ts";
import { failure, requestFailure } from "./failure.ts";
import { letGo } from "./http-fetch.ts";

/** How long a server may be silent: before the first byte, and between two. */
export type StreamLimits = { firstByteMs: number; idleMs: number };
export const STREAM_LIMITS: StreamLimits = { firstByteMs: 120_000, idleMs: 120_000 };

type AnswerSource = {
  /** Sends the request; the signal stops it, and the body that came of it. */
  open(signal: AbortSignal): Promise<unknown>;
  /** Told of a request that was refused; what it returns will be otherwise when it is made again. */
  adjust?: (error: unknown) => string | undefined;
  answer: Answer;
  baseUrl: string;
  limits: StreamLimits;
};

/** One attempt at one request. What goes wrong is an `error` event; an abort just ends the stream. */
export async function* streamAnswer(source: AnswerSource, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  if (signal.aborted) return;
  const watchdog = new Watchdog(signal);
  let body: IncomingMessage | undefined;
  let isFinished = false;
  try {
    watchdog.expect(source.limits.firstByteMs);
    try {
      body = bodyOf(await source.open(watchdog.signal));
    } catch (error) {
      if (signal.aborted) return;
      const failed = watchdog.stalled ?? requestFailure(error, source.baseUrl);
      const adjusted = failed.kind === "invalid_request" ? source.adjust?.(error) : undefined;
      yield { type: "error", ...failed, ...(adjusted ? { retryable: true, adjusted } : {}) };
      yield source.answer.abandon();
      return;
    }
    for await (const event of readAnswer(watched(body, watchdog, source.limits.idleMs), source.answer)) {
      if (signal.aborted) return;
      isFinished = event.type === "end" && event.stop !== "error";
      if (event.type === "end") watchdog.rest();
      yield event;
    }
  } finally {
    watchdog.rest();
    if (body) letGo(body, isFinished);
    if (!isFinished) watchdog.stop();
    watchdog.release();
  }
}

/** The timer runs only while a byte is waited for, so a slow reader is no stall. */
async function* watched(body: IncomingMessage, watchdog: Watchdog, idleMs: number): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false })) {
      watchdog.rest();
      yield chunk;
      watchdog.expect(idleMs);
    }
  } catch (error) {
    throw watchdog.stalled ? new StreamError(watchdog.stalled) : error;
  } finally {
    watchdog.rest();
  }
}

/** A silent server never ends by itself, and the SDKs' timeouts end with the headers. */
class Watchdog {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #abort = () => this.#controller.abort();
  #timer: NodeJS.Timeout | undefined;
  #stalledMs: number | undefined;

  constructor(outer: AbortSignal) {
    this.#outer = outer;
    outer.addEventListener("abort", this.#abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get stalled() {
    return this.#stalledMs === undefined ? undefined : failure("stalled", `The server sent nothing for ${this.#stalledMs / 1000} s.`);
  }

  expect(ms: number): void {
    this.rest();
    this.#timer = setTimeout(() => {
      this.#stalledMs = ms;
      this.#controller.abort();
    }, ms);
  }

  rest(): void {
    clearTimeout(this.#timer);
  }

  stop(): void {
    this.#controller.abort();
  }

  release(): void {
    this.#outer.removeEventListener("abort", this.#abort);
  }
}

function bodyOf(response: unknown): IncomingMessage {
  // Our own fetch made the response, and its body is what node:http gave.
  if (isRecord(response)) return response.body as IncomingMessage;
  throw new TypeError("The request brought no response.");
}
