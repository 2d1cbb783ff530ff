import { describe, expect, test } from "vitest";
import { anthropicClient } from "../../../src/engine/providers/anthropic.ts";
import { openAIClient } from "../../../src/engine/providers/openai.ts";
import { responsesClient } from "../../../src/engine/providers/responses.ts";
import { type RetriedEvent, withRetry } from "../../../src/engine/retry.ts";
import { type AssistantMessage, type Message, userText } from "../../../src/protocol/message.ts";
import type { ModelClient, ModelRequest } from "../../../src/protocol/model.ts";
import { type RawReply, type RawServer, rawServer } from "../../support/raw-sse.ts";
import { modelRequest } from "../../support/requests.ts";
import { responsesAnswer } from "../../support/responses-sse.ts";
import { collect, vectorBytes } from "../../support/streams.ts";

const json = { "content-type": "application/json" };
const refusal = (error: unknown, status = 400): RawReply => ({ status, headers: json, steps: [JSON.stringify(error)] });
const chatAnswer: RawReply = { steps: [vectorBytes("oai-finish-no-done")] };
const claudeAnswer: RawReply = { steps: [vectorBytes("ant-usage-basic")] };

const chat = (url: string): ModelClient =>
  openAIClient({
    provider: "p",
    baseUrl: url,
    cacheKey: "s",
    thinking: "high",
    compat: { store: true, promptCacheKey: true, developerRole: true, strictTools: true, cacheMarks: true },
  });
const claude = (url: string): ModelClient => anthropicClient({ provider: "p", baseUrl: url, thinking: "adaptive" });
const responses = (url: string): ModelClient => responsesClient({ provider: "p", baseUrl: url, thinking: "high", cacheKey: "s" });

function ask(client: ModelClient, request: ModelRequest = modelRequest({ model: "gpt-5.4" })): Promise<RetriedEvent[]> {
  return collect(withRetry(client, { sleep: async () => undefined }).stream(request, new AbortController().signal));
}

function bodies(server: RawServer): Record<string, unknown>[] {
  return server.requests.map(({ body }) => JSON.parse(body));
}

describe("a 400 that names a field: it is left out, once and from then on, and that is told", () => {
  const cases: { name: string; error: unknown; status?: number }[] = [
    { name: "store", error: { error: { message: "Unrecognized request argument supplied: store" } } },
    { name: "stream_options", error: { error: { message: "Unknown parameter.", param: "stream_options.include_usage" } } },
    { name: "prompt_cache_key", error: { error: { message: "prompt_cache_key: Extra inputs are not permitted" } } },
    {
      name: "reasoning_effort",
      error: { detail: [{ type: "extra_forbidden", loc: ["body", "reasoning_effort"], msg: "Extra inputs are not permitted" }] },
      status: 422,
    },
    { name: "reasoning_effort", error: { error: { message: "Unsupported value: 'reasoning_effort' does not support 'high'." } } },
  ];
  test.each(cases)("$name in $error", async ({ name, error, status }) => {
    await using server = await rawServer(refusal(error, status), chatAnswer);
    const client = chat(server.url);
    const events = await ask(client);
    expect(events[0]).toMatchObject({ type: "retry", delayMs: 0, kind: "invalid_request", reason: expect.stringContaining(`"${name}"`) });
    expect(events.at(-1)).toMatchObject({ type: "end", stop: "end_turn" });
    await ask(client);
    const [first, ...later] = bodies(server);
    const { [name]: gone, ...rest } = first ?? {};
    expect(gone).toBeDefined();
    expect(later).toEqual([rest, rest]);
  });

  test("what stands deeper: the developer role, strict of tools, cache marks", async () => {
    const strict = refusal({ error: { message: "tools.0.function.strict: Extra inputs are not permitted" } });
    const developer = refusal({
      error: { message: "'developer' is not one of ['system', 'assistant', 'user', 'tool', 'function'] - 'messages.0.role'" },
    });
    const marks = refusal({ error: { message: "messages.0.content.0.cache_control: unknown field" } });
    await using server = await rawServer(strict, developer, marks, chatAnswer);
    expect((await ask(chat(server.url))).at(-1)).toMatchObject({ stop: "end_turn" });
    const [first, second, third, last] = server.requests.map(({ body }) => body);
    expect([first?.includes('"strict"'), second?.includes('"strict"')]).toEqual([true, false]);
    expect([second?.includes('"developer"'), third?.includes('"developer"'), third?.includes('"role":"system"')]).toEqual([
      true,
      false,
      true,
    ]);
    expect([third?.includes("cache_control"), last?.includes("cache_control")]).toEqual([true, false]);
  });

  test("the limit has another name", async () => {
    const message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    await using server = await rawServer(refusal({ error: { message, param: "max_tokens" } }), chatAnswer);
    expect((await ask(chat(server.url))).at(-1)).toMatchObject({ stop: "end_turn" });
    expect(bodies(server).map(({ max_tokens, max_completion_tokens }) => [max_tokens, max_completion_tokens])).toEqual([
      [1000, undefined],
      [undefined, 1000],
    ]);
  });

  test("Responses without encrypted reasoning", async () => {
    const error = { error: { message: "Encrypted content is not supported with this model.", param: "include" } };
    await using server = await rawServer(refusal(error), { steps: [responsesAnswer({ text: "Hi." })] });
    expect((await ask(responses(server.url))).at(-1)).toMatchObject({ stop: "end_turn" });
    expect(bodies(server).map((body) => "include" in body)).toEqual([true, false]);
  });

  test("Anthropic's words for a model that does not think", async () => {
    await using server = await rawServer(
      refusal({ type: "error", error: { type: "invalid_request_error", message: "adaptive thinking is not supported on this model" } }),
      claudeAnswer,
    );
    expect((await ask(claude(server.url))).at(-1)).toMatchObject({ stop: "end_turn" });
    expect(bodies(server).map((body) => "thinking" in body)).toEqual([true, false]);
  });

  test("a server that always says the same is not asked for ever", async () => {
    await using server = await rawServer(refusal({ error: { message: "Unrecognized request argument supplied: store" } }));
    const events = await ask(chat(server.url));
    expect(events.slice(-2)).toMatchObject([
      { type: "error", kind: "invalid_request", retryable: false },
      { type: "end", stop: "error" },
    ]);
    expect(server.requests).toHaveLength(2);
  });

  test("a field of one's own with a strange name", async () => {
    await using server = await rawServer(refusal({ error: { message: "Unknown parameter: 'a.b(*'" } }), chatAnswer);
    const client = openAIClient({ provider: "p", baseUrl: server.url, extraBody: { "a.b(*": 1 } });
    expect((await ask(client)).at(-1)).toMatchObject({ stop: "end_turn" });
    expect(bodies(server).map((body) => "a.b(*" in body)).toEqual([true, false]);
  });

  test("other refusals stay what they are", async () => {
    for (const message of [
      "Invalid schema for function 'ReadFile': 'path' is not valid",
      "The model `gpt-9` does not exist or is not available to you",
      "tools: unknown tool type",
      "max_tokens: 99999 > 64000, which is not supported",
      "We could not store your request, the value is invalid",
    ]) {
      await using server = await rawServer(refusal({ error: { message } }));
      expect([message, (await ask(chat(server.url))).map(({ type }) => type)]).toEqual([message, ["error", "end"]]);
    }
  });
});

describe("a 400 about thinking: once more without any, and never again with these blocks", () => {
  const answer = (content: AssistantMessage["content"]): AssistantMessage => ({
    role: "assistant",
    provider: "p",
    model: "mock-1",
    content,
  });
  const signed = answer([
    { type: "thinking", text: "hm", signature: "sig" },
    { type: "opaque", provider: "p", raw: { type: "redacted_thinking", data: "d" } },
    { type: "opaque", provider: "p", raw: { type: "server_tool_use", id: "s", name: "web_search", input: {} } },
    { type: "text", text: "One." },
  ]);
  const history: Message[] = [userText("x"), signed, userText("y")];
  const bad = refusal({
    type: "error",
    error: { type: "invalid_request_error", message: "messages.1.content.0: Invalid `signature` in `thinking` block" },
  });

  test("on Anthropic; later thinking is kept", async () => {
    await using server = await rawServer(bad, claudeAnswer);
    const client = claude(server.url);
    const events = await ask(client, modelRequest({ messages: history }));
    expect(events[0]).toMatchObject({ type: "retry", reason: expect.stringContaining("thinking") });
    expect(events.at(-1)).toMatchObject({ stop: "end_turn" });
    history.push(
      answer([
        { type: "thinking", text: "new", signature: "sig2" },
        { type: "text", text: "Two." },
      ]),
      userText("z"),
    );
    await ask(client, modelRequest({ messages: history }));
    const sent = server.requests.map(({ body }) => JSON.stringify(JSON.parse(body).messages));
    expect(
      sent.map((text) => [
        text.includes('"sig"'),
        text.includes("redacted_thinking"),
        text.includes("web_search"),
        text.includes('"sig2"'),
      ]),
    ).toEqual([
      [true, true, true, false],
      [false, false, true, false],
      [false, false, true, true],
    ]);
  });

  test("on Responses", async () => {
    const reasoning = answer([
      { type: "opaque", provider: "p", raw: { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" } },
      { type: "text", text: "One." },
    ]);
    const message = "The encrypted content gAAA could not be verified. Reason: Encrypted content could not be decrypted or parsed.";
    await using server = await rawServer(refusal({ error: { code: "invalid_encrypted_content", message } }), {
      steps: [responsesAnswer({ text: "Hi." })],
    });
    const events = await ask(responses(server.url), modelRequest({ messages: [userText("x"), reasoning, userText("y")] }));
    expect(events.at(-1)).toMatchObject({ stop: "end_turn" });
    expect(server.requests.map(({ body }) => body.includes("rs_1"))).toEqual([true, false]);
  });

  test("a server that always says the same is asked twice", async () => {
    await using server = await rawServer(bad);
    const messages = [
      userText("x"),
      answer([
        { type: "thinking", text: "a", signature: "s" },
        { type: "text", text: "b" },
      ]),
      userText("y"),
    ];
    const events = await ask(claude(server.url), modelRequest({ messages }));
    expect(events.map(({ type }) => type)).toEqual(["retry", "error", "end"]);
    expect(server.requests).toHaveLength(2);
  });
});
