import { describe, expect, test } from "vitest";
import { toResponsesBody } from "../../../src/engine/providers/responses-body.ts";
import { parseResponses } from "../../../src/engine/providers/responses-stream.ts";
import { debugStream } from "../../../src/interaction/commands/debug-stream.ts";
import type { AssistantMessage, Message } from "../../../src/protocol/message.ts";
import { toolCalls, userText } from "../../../src/protocol/message.ts";
import type { ModelEvent } from "../../../src/protocol/model.ts";
import { modelRequest } from "../../support/requests.ts";
import { frame, responsesAnswer } from "../../support/responses-sse.ts";
import { collect, inPieces } from "../../support/streams.ts";

const REASONING = { id: "rs_1", summary: "Let me see.", encrypted: "gAAAA+/=" };
const CALLS = [
  { id: "call_1", name: "ReadFile", input: { path: "ä.txt" } },
  { id: "call_2", name: "Bash", input: { command: "ls" } },
];
const WHOLE = responsesAnswer({ reasoning: REASONING, text: "I look.", calls: CALLS });

function parsed(text: string, size = 10_000): Promise<ModelEvent[]> {
  return collect(parseResponses(inPieces(Buffer.from(text), size), { provider: "p", model: "mock-1" }));
}

async function endOf(text: string): Promise<ModelEvent & { type: "end" }> {
  const end = (await parsed(text)).at(-1);
  if (end?.type !== "end") throw new Error("no end");
  return end;
}

async function failed(text: string) {
  const events = await parsed(text);
  expect(events.at(-1)).toMatchObject({ type: "end", stop: "error" });
  return events.at(-2);
}

function body(...messages: Message[]) {
  return toResponsesBody(modelRequest({ messages }), { provider: "p" });
}

describe("the stream of OpenAI's Responses", () => {
  test("gives thinking, text and calls with their ids, and the usage without what was cached", async () => {
    const events = await parsed(WHOLE);
    expect(events.filter(({ type }) => type !== "tool_delta")).toEqual([
      { type: "thinking", text: "Let me see." },
      { type: "text", text: "I lo" },
      { type: "text", text: "ok." },
      { type: "tool_start", index: 0, id: "call_1", name: "ReadFile" },
      { type: "tool_end", index: 0, id: "call_1", name: "ReadFile", input: { path: "ä.txt" } },
      { type: "tool_start", index: 1, id: "call_2", name: "Bash" },
      { type: "tool_end", index: 1, id: "call_2", name: "Bash", input: { command: "ls" } },
      expect.objectContaining({ type: "end", stop: "tool_use", usage: { input: 10, output: 5, cacheRead: 20, cacheWrite: 0 } }),
    ]);
  });

  test("gives the same events however the bytes are split", async () => {
    const whole = await parsed(WHOLE);
    for (const size of [1, 3, 7, 64]) expect(await parsed(WHOLE, size)).toEqual(whole);
  });

  test("cut at any byte it is truncated or whole, never a shortened call", async () => {
    const bytes = Buffer.from(WHOLE);
    const whole = toolCalls((await endOf(WHOLE)).message);
    for (let length = 0; length < bytes.length; length++) {
      const events = await collect(parseResponses(inPieces(bytes.subarray(0, length), 5000), { provider: "p", model: "m" }));
      const end = events.at(-1);
      if (end?.type !== "end") throw new Error(`cut at ${length}: no end`);
      if (end.stop === "error") expect([events.at(-2), toolCalls(end.message)]).toMatchObject([{ type: "error", retryable: true }, []]);
      else expect(toolCalls(end.message)).toEqual(whole);
    }
  });

  test("a [DONE] without the API's own last event is truncated", async () => {
    const cut = WHOLE.slice(0, WHOLE.indexOf("event: response.completed"));
    expect(await failed(`${cut}data: [DONE]\n\n`)).toMatchObject({ type: "error", kind: "truncated" });
  });

  test("stops are told apart: end, output limit, filter, refusal", async () => {
    const stop = async (answer: Parameters<typeof responsesAnswer>[0]) => (await endOf(responsesAnswer(answer))).stop;
    expect(await stop({ text: "Hi." })).toBe("end_turn");
    expect(await stop({ text: "Hi", incomplete: "max_output_tokens" })).toBe("max_tokens");
    expect(await stop({ text: "Hi", incomplete: "content_filter" })).toBe("refusal");
    expect(await stop({ text: "Hi", incomplete: "sunspots" })).toBe("other:sunspots");
    expect(await stop({ refusal: "I can't help with that." })).toBe("refusal");
    expect(await stop({ calls: CALLS, incomplete: "max_output_tokens" })).toBe("max_tokens");
  });

  test("a refusal's words are shown", async () => {
    const events = await parsed(responsesAnswer({ refusal: "I can't." }));
    expect(events.filter((event) => event.type === "text").map(({ text }) => text)).toEqual(["I ca", "n't."]);
  });

  test("arguments that the limit cut are no input", async () => {
    const text = responsesAnswer({ calls: [{ id: "c", name: "ReadFile", json: '{"path":"a' }], incomplete: "max_output_tokens" });
    expect((await parsed(text)).find(({ type }) => type === "tool_end")).toMatchObject({ input: null });
    expect((await endOf(text)).message.content).toMatchObject([{ input: {}, malformed: '{"path":"a' }]);
  });

  test("failures inside the stream have their kind", async () => {
    const fail = (error: unknown) => frame({ type: "response.failed", response: { status: "failed", error } });
    expect(await failed(fail({ code: "rate_limit_exceeded", message: "x" }))).toMatchObject({ kind: "rate_limit", retryable: true });
    expect(await failed(fail({ code: "server_error", message: "x" }))).toMatchObject({ kind: "server", retryable: true });
    expect(await failed(fail({ code: "invalid_prompt", message: "x" }))).toMatchObject({ kind: "invalid_request", retryable: false });
    expect(await failed(frame({ type: "error", code: "context_length_exceeded", message: "Your input exceeds it." }))).toMatchObject({
      kind: "context_length",
    });
    expect(await failed(frame({ type: "error", error: { type: "server_error", message: "x" } }))).toMatchObject({ kind: "server" });
  });

  test("items that come whole, or only with the last event, are taken all the same", async () => {
    const call = { type: "function_call", id: "fc", call_id: "c", name: "Bash", arguments: '{"command":"ls"}' };
    const message = { type: "message", role: "assistant", content: [{ type: "output_text", text: "Hi." }] };
    const done = (output: unknown[]) => frame({ type: "response.completed", response: { status: "completed", output } });
    const expected = [
      { type: "text", text: "Hi." },
      { type: "tool_use", id: "c", name: "Bash", input: { command: "ls" } },
    ];
    const items = [message, call].map((item, output_index) => frame({ type: "response.output_item.done", output_index, item })).join("");
    expect((await endOf(items + done([message, call]))).message.content).toEqual(expected);
    expect((await endOf(done([message, call]))).message.content).toEqual(expected);
  });

  test("the debug command prints it in the spelling of the vectors", async () => {
    const lines: string[] = [];
    await debugStream("openai-responses", inPieces(Buffer.from(WHOLE), 9), (line) => lines.push(line));
    expect(JSON.parse(lines.at(-1) ?? "")).toEqual({
      type: "end",
      stop: "tool_use",
      usage: { input: 10, output: 5, cache_read: 20, cache_write: 0 },
    });
  });
});

describe("the body for OpenAI's Responses", () => {
  test("has its keys in a fixed order with the input last, and stores nothing", () => {
    const sent = toResponsesBody(modelRequest(), { provider: "p", cacheKey: "s-1", thinking: "high", extraBody: { metadata: {} } });
    expect(Object.keys(sent)).toEqual([
      "model",
      "max_output_tokens",
      "stream",
      "store",
      "include",
      "prompt_cache_key",
      "reasoning",
      "metadata",
      "tools",
      "instructions",
      "input",
    ]);
    expect(sent).toMatchObject({
      store: false,
      include: ["reasoning.encrypted_content"],
      prompt_cache_key: "s-1",
      reasoning: { effort: "high", summary: "auto" },
      tools: [{ type: "function", name: "ReadFile", strict: false }],
      instructions: "You are RooCode.",
    });
  });

  test("gives reasoning back byte for byte before its call, to its own model only", async () => {
    const { message } = await endOf(WHOLE);
    const reasoning = JSON.stringify({
      type: "reasoning",
      id: "rs_1",
      summary: [{ type: "summary_text", text: "Let me see." }],
      encrypted_content: "gAAAA+/=",
    });
    const sent = JSON.stringify(body(userText("x"), message).input);
    expect(sent).toContain(`${reasoning},{"type":"message","role":"assistant"`);
    for (const foreign of [
      { ...message, model: "other" },
      { ...message, provider: "other" },
    ])
      expect(JSON.stringify(body(userText("x"), foreign))).not.toContain('"type":"reasoning"');
  });

  test("leaves out reasoning that nothing came of, and what only refers to something stored", () => {
    const opaque = (raw: unknown): AssistantMessage["content"][number] => ({ type: "opaque", provider: "p", raw });
    const assistant = (content: AssistantMessage["content"]): AssistantMessage => ({
      role: "assistant",
      provider: "p",
      model: "mock-1",
      content,
    });
    const alone = assistant([opaque({ type: "reasoning", id: "rs", encrypted_content: "x" })]);
    const stored = assistant([opaque({ type: "reasoning", id: "rs" }), { type: "text", text: "Hi." }]);
    expect(JSON.stringify([body(alone).input, body(stored).input])).not.toContain("reasoning");
  });

  test("has an output for each call, with its images, and then the user's words", () => {
    const call: AssistantMessage = {
      role: "assistant",
      provider: "q",
      model: "m",
      content: [{ type: "tool_use", id: "call_1", name: "ReadFile", input: { path: "a" } }],
    };
    const image = { type: "image" as const, mediaType: "image/png", data: "AA==" };
    const results: Message = {
      role: "user",
      content: [
        { type: "text", text: "steering" },
        { type: "tool_result", toolUseId: "call_1", content: [{ type: "text", text: "no such file" }], isError: true },
        { type: "tool_result", toolUseId: "call_2", content: [image], isError: false },
      ],
    };
    expect(body(call, results).input).toEqual([
      { type: "function_call", call_id: "call_1", name: "ReadFile", arguments: '{"path":"a"}' },
      { type: "function_call_output", call_id: "call_1", output: "Error: no such file" },
      {
        type: "function_call_output",
        call_id: "call_2",
        output: [{ type: "input_image", image_url: "data:image/png;base64,AA==", detail: "auto" }],
      },
      { type: "message", role: "user", content: [{ type: "input_text", text: "steering" }] },
    ]);
  });
});
