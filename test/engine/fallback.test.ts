import { describe, expect, test } from "vitest";
import { anthropicClient } from "../../src/engine/providers/anthropic.ts";
import { openAIClient } from "../../src/engine/providers/openai.ts";
import { type RetriedEvent, type RetryOptions, withRetry } from "../../src/engine/retry.ts";
import { type Message, userText } from "../../src/protocol/message.ts";
import type { ModelRequest } from "../../src/protocol/model.ts";
import { type RawReply, rawServer } from "../support/raw-sse.ts";
import { modelRequest } from "../support/requests.ts";
import { collect, vectorBytes } from "../support/streams.ts";

const status = (code: number, type: string, headers = {}): RawReply => ({
  status: code,
  headers: { "content-type": "application/json", ...headers },
  steps: [JSON.stringify({ type: "error", error: { type, message: "x" } })],
});
const OVERLOADED = status(529, "overloaded_error");
const claudeAnswer: RawReply = { steps: [vectorBytes("ant-usage-basic")] };
const chatAnswer: RawReply = { steps: [vectorBytes("oai-finish-no-done")] };

/** A first model on Anthropic's protocol, a second on OpenAI's, and a clock that only a test moves. */
async function pair(first: readonly RawReply[], second: readonly RawReply[] = [chatAnswer], options: RetryOptions = {}) {
  const a = await rawServer(...first);
  const b = await rawServer(...second);
  const clock = { nowMs: Date.parse("2026-12-02T10:00:00Z") };
  const client = withRetry(anthropicClient({ provider: "a", baseUrl: a.url }), {
    sleep: async () => undefined,
    now: () => new Date(clock.nowMs),
    fallback: { client: openAIClient({ provider: "b", baseUrl: b.url }), model: "second", maxOutputTokens: 500 },
    ...options,
  });
  const ask = (request: ModelRequest = modelRequest()): Promise<RetriedEvent[]> =>
    collect(client.stream(request, new AbortController().signal));
  return {
    a,
    b,
    clock,
    ask,
    async [Symbol.asyncDispose]() {
      await a[Symbol.asyncDispose]();
      await b[Symbol.asyncDispose]();
    },
  };
}

describe("a fallback model", () => {
  test("is asked after all tries with the first, with one notice, and is named in its answer", async () => {
    await using models = await pair([OVERLOADED]);
    const events = await models.ask();
    expect(models.a.requests).toHaveLength(8);
    expect(events.filter((event) => event.type === "retry" && event.reason !== undefined)).toEqual([
      {
        type: "retry",
        attempt: 1,
        max: 1,
        delayMs: 0,
        kind: "overloaded",
        reason: "mock-1 does not answer (529: x (given up after 8 tries)); second stands in for it for 5 minutes.",
      },
    ]);
    expect(events.at(-1)).toMatchObject({ type: "end", stop: "end_turn", message: { provider: "b", model: "second" } });
    expect(events.filter(({ type }) => type === "error")).toEqual([]);
    expect(JSON.parse(models.b.requests[0]?.body ?? "")).toMatchObject({ model: "second", max_tokens: 500 });
  });

  test("is asked directly for five minutes, and then the first again", async () => {
    await using models = await pair([...Array<RawReply>(8).fill(OVERLOADED), claudeAnswer]);
    await models.ask();
    models.clock.nowMs += 4 * 60_000;
    expect((await models.ask()).at(-1)).toMatchObject({ message: { provider: "b" } });
    expect([models.a.requests.length, models.b.requests.length]).toEqual([8, 2]);
    models.clock.nowMs += 2 * 60_000;
    expect((await models.ask()).at(-1)).toMatchObject({ message: { provider: "a", model: "mock-1" } });
  });

  test("stands in for one that cannot be reached, and for a limit of an hour at once, with long waits too", async () => {
    await using limited = await pair([status(429, "rate_limit_error", { "retry-after": "3600" })], [chatAnswer], { longWaits: true });
    expect((await limited.ask()).at(-1)).toMatchObject({ stop: "end_turn", message: { provider: "b" } });
    expect(limited.a.requests).toHaveLength(1);

    await using gone = await rawServer({ steps: [] });
    const url = gone.url;
    await gone[Symbol.asyncDispose]();
    await using second = await rawServer(chatAnswer);
    const fallback = { client: openAIClient({ provider: "b", baseUrl: second.url }), model: "second", maxOutputTokens: 500 };
    const client = withRetry(anthropicClient({ provider: "a", baseUrl: url }), { fallback });
    expect((await collect(client.stream(modelRequest(), new AbortController().signal))).at(-1)).toMatchObject({
      message: { provider: "b" },
    });
  });

  test("does not hide a wrong key, a bad request, an overflow or a spent quota", async () => {
    for (const reply of [
      status(401, "authentication_error"),
      status(400, "invalid_request_error"),
      status(413, "request_too_large"),
      status(402, "billing_error"),
    ]) {
      await using models = await pair([reply]);
      expect((await models.ask()).map(({ type }) => type)).toEqual(["error", "end"]);
      expect(models.b.requests).toEqual([]);
    }
  });

  test("gets no thinking of the first", async () => {
    await using models = await pair([OVERLOADED]);
    const messages: Message[] = [
      userText("x"),
      {
        role: "assistant",
        provider: "a",
        model: "mock-1",
        content: [
          { type: "thinking", text: "secret", signature: "s" },
          { type: "text", text: "y" },
        ],
      },
      userText("z"),
    ];
    await models.ask(modelRequest({ messages }));
    expect([models.a.requests[0]?.body.includes("secret"), models.b.requests[0]?.body.includes("secret")]).toEqual([true, false]);
  });

  test("that fails too says why, in the end", async () => {
    await using models = await pair([OVERLOADED], [status(401, "authentication_error")]);
    expect((await models.ask()).slice(-2)).toMatchObject([
      { type: "error", kind: "auth" },
      { type: "end", stop: "error" },
    ]);
  });

  test("begins anew when the first broke off in its words", async () => {
    const silent = { firstByteMs: 5000, idleMs: 30 };
    await using a = await rawServer({ steps: [vectorBytes("ant-eof-no-stop"), "hang"] });
    await using b = await rawServer(chatAnswer);
    const client = withRetry(anthropicClient({ provider: "a", baseUrl: a.url, limits: silent }), {
      sleep: async () => undefined,
      fallback: { client: openAIClient({ provider: "b", baseUrl: b.url }), model: "second", maxOutputTokens: 500 },
    });
    const types = (await collect(client.stream(modelRequest(), new AbortController().signal))).map(({ type }) => type);
    expect(types.filter((type) => type === "attempt_reset")).toHaveLength(4);
    expect(types.lastIndexOf("attempt_reset")).toBeLessThan(types.lastIndexOf("retry"));
    expect(types.at(-1)).toBe("end");
  });
});

describe("a wait of more than a minute, where someone waits with it", () => {
  const HOUR = status(429, "rate_limit_error", { "retry-after": "150" });

  test("is told each minute with what is left, and then the request is made again", async () => {
    await using server = await rawServer(HOUR, claudeAnswer);
    const waits: number[] = [];
    const client = withRetry(anthropicClient({ provider: "a", baseUrl: server.url }), {
      longWaits: true,
      sleep: async (ms) => void waits.push(ms),
    });
    const events = await collect(client.stream(modelRequest(), new AbortController().signal));
    expect(events.flatMap((event) => (event.type === "retry" ? [[event.delayMs, event.attempt]] : []))).toEqual([
      [150_000, 2],
      [90_000, 2],
      [30_000, 2],
    ]);
    expect(waits).toEqual([60_000, 60_000, 30_000]);
    expect(events.at(-1)).toMatchObject({ type: "end", stop: "end_turn" });
  });

  test("ends with an abort", async () => {
    await using server = await rawServer(HOUR);
    const controller = new AbortController();
    const events: RetriedEvent[] = [];
    for await (const event of withRetry(anthropicClient({ provider: "a", baseUrl: server.url }), { longWaits: true }).stream(
      modelRequest(),
      controller.signal,
    )) {
      events.push(event);
      controller.abort();
    }
    expect(events.map(({ type }) => type)).toEqual(["retry"]);
  });
});
