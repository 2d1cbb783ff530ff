import { createServer } from "node:net";
import { describe, expect, test, vi } from "vitest";
import { anthropicClient } from "../../../src/engine/providers/anthropic.ts";
import { openAIClient } from "../../../src/engine/providers/openai.ts";
import { responsesClient } from "../../../src/engine/providers/responses.ts";
import type { StreamLimits } from "../../../src/engine/providers/stream-answer.ts";
import { type RetriedEvent, type RetryOptions, withRetry } from "../../../src/engine/retry.ts";
import type { ModelClient, ModelEvent } from "../../../src/protocol/model.ts";
import { type RawReply, type RawServer, rawServer } from "../../support/raw-sse.ts";
import { modelRequest } from "../../support/requests.ts";
import { responsesAnswer, responsesBeginning } from "../../support/responses-sse.ts";
import { collect, vectorBytes } from "../../support/streams.ts";

type ProtocolCase = {
  protocol: "anthropic" | "openai" | "openai-responses";
  client(url: string, limits?: StreamLimits): ModelClient;
  path: string;
  /** A text and one call. */
  happy: Uint8Array;
  /** A beginning with visible text. */
  beginning: Uint8Array;
  error(type: string, message: string): string;
};

const CASES: ProtocolCase[] = [
  {
    protocol: "anthropic",
    client: (url, limits) => anthropicClient({ provider: "p", baseUrl: url, apiKey: "key-1", ...(limits ? { limits } : {}) }),
    path: "/v1/messages",
    happy: vectorBytes("ant-tool-basic"),
    beginning: vectorBytes("ant-eof-no-stop"),
    error: (type, message) => JSON.stringify({ type: "error", error: { type, message } }),
  },
  {
    protocol: "openai",
    client: (url, limits) => openAIClient({ provider: "p", baseUrl: `${url}/v1`, apiKey: "key-1", ...(limits ? { limits } : {}) }),
    path: "/v1/chat/completions",
    happy: vectorBytes("oai-tool-basic"),
    beginning: vectorBytes("oai-eof-no-finish"),
    error: (type, message) => JSON.stringify({ error: { type, message, code: type } }),
  },
  {
    protocol: "openai-responses",
    client: (url, limits) => responsesClient({ provider: "p", baseUrl: `${url}/v1`, apiKey: "key-1", ...(limits ? { limits } : {}) }),
    path: "/v1/responses",
    happy: Buffer.from(responsesAnswer({ text: "Looking.", calls: [{ id: "call_1", name: "ReadFile", input: { path: "a" } }] })),
    beginning: Buffer.from(responsesBeginning("Looking.")),
    error: (type, message) => JSON.stringify({ error: { type, message, code: type } }),
  },
];

const signal = () => new AbortController().signal;

function ask(client: ModelClient): Promise<ModelEvent[]> {
  return collect(client.stream(modelRequest(), signal()));
}

/** Retries at once, and notes how long it would have waited. */
function quick(): RetryOptions & { waits: number[] } {
  const waits: number[] = [];
  return { waits, random: () => 1, sleep: async (ms) => void waits.push(ms) };
}

function kinds(events: readonly RetriedEvent[]): string[] {
  return events.map((event) => (event.type === "error" || event.type === "retry" ? `${event.type} ${event.kind}` : event.type));
}

describe.each(CASES)("$protocol over real HTTP", ({ client, path, happy, beginning, error }) => {
  const json = { "content-type": "application/json" };
  const status = (code: number, type: string, message: string, headers = {}): RawReply => ({
    status: code,
    headers: { ...json, ...headers },
    steps: [error(type, message)],
  });
  const whole: RawReply = { steps: [happy] };
  const cutAfterText: RawReply = { steps: [beginning, { pauseMs: 20 }, "cut"] };

  async function failedWith(reply: RawReply) {
    await using server = await rawServer(reply);
    const events = await ask(client(server.url));
    expect(events.map(({ type }) => type)).toEqual(["error", "end"]);
    return events[0];
  }

  test("a request goes to the right path with the key, and its answer comes as events with the whole message", async () => {
    await using server = await rawServer(whole);
    const events = await ask(client(server.url));
    const end = events.at(-1);
    expect(events.map(({ type }) => type)).toContain("tool_end");
    expect(end).toMatchObject({
      type: "end",
      stop: "tool_use",
      message: {
        role: "assistant",
        provider: "p",
        model: "mock-1",
        content: expect.arrayContaining([expect.objectContaining({ name: "ReadFile" })]),
      },
    });
    const [request] = server.requests;
    expect(request?.path).toBe(path);
    expect(`${request?.headers["x-api-key"] ?? ""}${request?.headers.authorization ?? ""}`).toMatch(/^(Bearer )?key-1$/);
    expect(JSON.parse(request?.body ?? "")).toMatchObject({ model: "mock-1", stream: true });
  });

  test("a pause and any pieces on the wire change nothing", async () => {
    const bytes = happy;
    await using server = await rawServer({ steps: [bytes.subarray(0, 100), { pauseMs: 30 }, bytes.subarray(100)] });
    await using unbroken = await rawServer(whole);
    expect(await ask(client(server.url))).toEqual(await ask(client(unbroken.url)));
  });

  test("connections are used again after a whole answer", async () => {
    await using server = await rawServer(whole);
    const model = client(server.url);
    for (let count = 0; count < 6; count++) await ask(model);
    expect(server.requests).toHaveLength(6);
    expect(server.connections()).toBeLessThan(4);
  });

  test("401 is an auth error, and is never tried again", async () => {
    await using server = await rawServer(status(401, "authentication_error", "invalid key"));
    const events = await collect(withRetry(client(server.url), quick()).stream(modelRequest(), signal()));
    expect(kinds(events)).toEqual(["error auth", "end"]);
    expect(events[0]).toMatchObject({ retryable: false, text: "401: invalid key" });
    expect(server.requests).toHaveLength(1);
  });

  test("403, 404 and 400 are told apart and not retryable", async () => {
    expect(await failedWith(status(403, "permission_error", "no"))).toMatchObject({ kind: "auth", retryable: false });
    expect(await failedWith(status(404, "not_found_error", "model: x"))).toMatchObject({ kind: "invalid_request", retryable: false });
    expect(await failedWith(status(400, "invalid_request_error", "tools.0: bad"))).toMatchObject({
      kind: "invalid_request",
      retryable: false,
    });
  });

  test("the reason is found where other servers put it", async () => {
    const body = (text: string, code = 400): RawReply => ({ status: code, headers: json, steps: [text] });
    expect(await failedWith(body('{"object":"error","message":"This model\'s maximum context length is 4096 tokens"}'))).toMatchObject({
      kind: "context_length",
    });
    expect(await failedWith(body('{"error":"model \\"x\\" not found, try pulling it first"}', 404))).toMatchObject({
      text: expect.stringContaining("try pulling it first"),
    });
    expect(await failedWith(body('{"detail":"Not Found"}', 404))).toMatchObject({
      kind: "invalid_request",
      text: expect.stringContaining("Not Found"),
    });
    expect(await failedWith(body("plain words", 400))).toMatchObject({
      kind: "invalid_request",
      text: expect.stringContaining("plain words"),
    });
  });

  test("a 400 that says the prompt is too long is context_length", async () => {
    const failed = await failedWith(status(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"));
    expect(failed).toMatchObject({ kind: "context_length", retryable: false, text: expect.stringContaining("200000") });
  });

  test("429 waits as long as retry-after says, then the same bytes are sent again", async () => {
    await using server = await rawServer(status(429, "rate_limit_error", "slow down", { "retry-after": "7" }), whole);
    const retry = quick();
    const events = await collect(withRetry(client(server.url), retry).stream(modelRequest(), signal()));
    expect(events[0]).toEqual({ type: "retry", attempt: 2, max: 8, delayMs: 7000, kind: "rate_limit" });
    expect(events.at(-1)).toMatchObject({ type: "end", stop: "tool_use" });
    expect(retry.waits).toEqual([7000]);
    expect(server.requests[0]?.body).toBe(server.requests[1]?.body);
  });

  test("retry-after-ms and a date are understood as well", async () => {
    expect(await failedWith(status(429, "rate_limit_error", "x", { "retry-after-ms": "250", "retry-after": "9" }))).toMatchObject({
      retryAfterMs: 250,
    });
    const date = new Date(Date.now() + 30_000).toUTCString();
    const failed = await failedWith(status(529, "overloaded_error", "x", { "retry-after": date }));
    expect(failed?.type === "error" ? failed.retryAfterMs : 0).toSatisfy((ms: number) => ms > 20_000 && ms <= 30_000);
  });

  test("a wait of an hour is not obeyed: the error names it", async () => {
    await using server = await rawServer(status(429, "rate_limit_error", "slow down", { "retry-after": "3600" }));
    const now = () => new Date("2026-12-01T10:00:00Z");
    const events = await collect(withRetry(client(server.url), { ...quick(), now }).stream(modelRequest(), signal()));
    expect(kinds(events)).toEqual(["error rate_limit", "end"]);
    expect(events[0]).toMatchObject({ text: "429: slow down (the server asks to wait 3600 s, until 2026-12-01T11:00:00.000Z)" });
  });

  test("429 for a spent quota is not retryable, unless a time is named", async () => {
    expect(await failedWith(status(429, "insufficient_quota", "You exceeded your current quota"))).toMatchObject({
      kind: "quota",
      retryable: false,
    });
  });

  test("529, 500 and a 502 page of a proxy are tried again with growing waits", async () => {
    const page: RawReply = { status: 502, headers: { "content-type": "text/html" }, steps: ["<html>Bad Gateway</html>"] };
    await using server = await rawServer(status(529, "overloaded_error", "Overloaded"), status(500, "api_error", "oops"), page, whole);
    const retry = quick();
    const events = await collect(withRetry(client(server.url), retry).stream(modelRequest(), signal()));
    expect(kinds(events).slice(0, 3)).toEqual(["retry overloaded", "retry server", "retry server"]);
    expect(events.at(-1)).toMatchObject({ stop: "tool_use" });
    expect(retry.waits).toEqual([500, 1000, 2000]);
  });

  test("after eight tries it gives up and says so", async () => {
    await using server = await rawServer(status(503, "api_error", "down"));
    const retry = quick();
    const events = await collect(withRetry(client(server.url), retry).stream(modelRequest(), signal()));
    expect(events.slice(-2)).toMatchObject([
      { type: "error", kind: "server", text: "503: down (given up after 8 tries)" },
      { type: "end", stop: "error" },
    ]);
    expect(retry.waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000]);
    expect(server.requests).toHaveLength(8);
  });

  test("a cut in the middle voids what was shown and begins again", async () => {
    await using server = await rawServer(cutAfterText, whole);
    const events = await collect(withRetry(client(server.url), quick()).stream(modelRequest(), signal()));
    const types = events.map(({ type }) => type);
    expect(types.slice(types.indexOf("attempt_reset"))).toContain("tool_end");
    expect(types.indexOf("text")).toBeLessThan(types.indexOf("attempt_reset"));
    expect(types.indexOf("retry")).toBe(types.indexOf("attempt_reset") + 1);
    expect(types.filter((type) => type === "end" || type === "error")).toEqual(["end"]);
  });

  test("a stream that always breaks off is tried four times", async () => {
    await using server = await rawServer({ steps: [beginning] });
    const retry = quick();
    const events = await collect(withRetry(client(server.url), retry).stream(modelRequest(), signal()));
    expect(retry.waits).toEqual([1000, 2000, 4000]);
    expect(events.at(-2)).toMatchObject({ type: "error", kind: "truncated", text: expect.stringContaining("after 4 tries") });
  });

  test("a server that sends nothing at all is stalled", async () => {
    await using server = await rawServer({ steps: ["hang"] });
    const events = await ask(client(server.url, { firstByteMs: 50, idleMs: 10_000 }));
    expect(events[0]).toMatchObject({ type: "error", kind: "stalled", retryable: true });
    await vi.waitFor(() => expect(server.openSockets()).toBe(0));
  });

  test("a stream that falls silent in the middle is stalled", async () => {
    await using server = await rawServer({ steps: [beginning, "hang"] });
    const events = await ask(client(server.url, { firstByteMs: 10_000, idleMs: 50 }));
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(["text", "error", "end"]));
    expect(events.at(-2)).toMatchObject({ type: "error", kind: "stalled", retryable: true });
    await vi.waitFor(() => expect(server.openSockets()).toBe(0));
  });

  test("a reader that takes its time is no stall", async () => {
    await using server = await rawServer(whole);
    const events: ModelEvent[] = [];
    for await (const event of client(server.url, { firstByteMs: 2000, idleMs: 40 }).stream(modelRequest(), signal())) {
      if (events.length === 0) await new Promise((resolve) => setTimeout(resolve, 120));
      events.push(event);
    }
    expect(events.at(-1)).toMatchObject({ type: "end", stop: "tool_use" });
  });

  test("nothing listening on loopback is not retryable and asks whether the server runs", async () => {
    const port = await freePort();
    const events = await ask(client(`http://127.0.0.1:${port}`));
    expect(events[0]).toMatchObject({
      type: "error",
      kind: "network",
      retryable: false,
      text: expect.stringMatching(/Is the server running/),
    });
    expect(events[1]).toMatchObject({ type: "end", stop: "error" });
  });

  test("a connection that is closed before the answer is a retryable network error", async () => {
    await using server = await resettingServer();
    const events = await ask(client(server.url));
    expect(events[0]).toMatchObject({ type: "error", kind: "network", retryable: true, text: expect.stringContaining("ECONNRESET") });
  });

  test("a login page with status 200 is an error that shows its beginning", async () => {
    const failed = await failedWith({ headers: { "content-type": "text/html" }, steps: ["<!doctype html>\n<title>Hotel WiFi</title>\n"] });
    expect(failed).toMatchObject({ kind: "parse", text: expect.stringContaining("Hotel WiFi") });
  });

  test("a redirect is not followed with the key; the error names the new place", async () => {
    const failed = await failedWith({ status: 307, headers: { location: "http://elsewhere.test/v1" }, steps: [] });
    expect(failed).toMatchObject({ kind: "invalid_request", text: expect.stringContaining("http://elsewhere.test/v1") });
  });

  test("an abort in the middle ends the stream without an end and leaves no open socket", async () => {
    await using server = await rawServer({ steps: [beginning, "hang"] });
    await expectSilentAbort(server, client(server.url));
  });

  test("an abort before the first byte does the same", async () => {
    await using server = await rawServer({ steps: ["hang"] });
    const controller = new AbortController();
    const events = collect(withRetry(client(server.url)).stream(modelRequest(), controller.signal));
    await vi.waitFor(() => expect(server.requests).toHaveLength(1));
    controller.abort();
    expect(await events).toEqual([]);
    await vi.waitFor(() => expect(server.openSockets()).toBe(0));
  });

  test("an abort during the wait for the next try ends it at once", async () => {
    await using server = await rawServer(status(429, "rate_limit_error", "x", { "retry-after": "50" }));
    const controller = new AbortController();
    const events: RetriedEvent[] = [];
    for await (const event of withRetry(client(server.url)).stream(modelRequest(), controller.signal)) {
      events.push(event);
      controller.abort();
    }
    expect(kinds(events)).toEqual(["retry rate_limit"]);
  });

  test("a reader that stops early leaves no open socket", async () => {
    await using server = await rawServer({ steps: [beginning, "hang"] });
    for await (const event of client(server.url).stream(modelRequest(), signal())) if (event.type === "text") break;
    await vi.waitFor(() => expect(server.openSockets()).toBe(0));
  });
});

async function expectSilentAbort(server: RawServer, model: ModelClient): Promise<void> {
  const controller = new AbortController();
  const events: RetriedEvent[] = [];
  for await (const event of withRetry(model, quick()).stream(modelRequest(), controller.signal)) {
    events.push(event);
    if (event.type === "text") controller.abort();
  }
  expect(new Set(kinds(events))).toEqual(new Set(["text"]));
  await vi.waitFor(() => expect(server.openSockets()).toBe(0));
}

async function freePort(): Promise<number> {
  await using server = await rawServer({ steps: [] });
  return Number(new URL(server.url).port);
}

/** Takes the connection and closes it as soon as the request comes. */
async function resettingServer(): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer((socket) => socket.once("data", () => socket.resetAndDestroy()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { url: `http://127.0.0.1:${address.port}`, [Symbol.asyncDispose]: async () => void server.close() };
}
