import { describe, expect, test } from "vitest";
import { toAnthropicBody } from "../../../src/engine/providers/anthropic-body.ts";
import { parseAnthropic } from "../../../src/engine/providers/anthropic-stream.ts";
import { compatOf } from "../../../src/engine/providers/compat.ts";
import { toOpenAIBody } from "../../../src/engine/providers/openai-body.ts";
import { parseOpenAI } from "../../../src/engine/providers/openai-stream.ts";
import { PRESETS } from "../../../src/engine/providers/presets.ts";
import { selectModel } from "../../../src/engine/providers/select.ts";
import { type ProviderSettings, ProvidersSchema } from "../../../src/engine/providers/settings.ts";
import type { Thinking } from "../../../src/engine/providers/thinking.ts";
import { type AssistantMessage, type Message, userText } from "../../../src/protocol/message.ts";
import type { ModelRequest } from "../../../src/protocol/model.ts";
import { rawServer } from "../../support/raw-sse.ts";
import { modelRequest } from "../../support/requests.ts";
import { collect, inPieces, vectorBytes } from "../../support/streams.ts";

type Given = Partial<ModelRequest> & { thinking?: Thinking };

/** The body for a vendor's preset. */
function bodyFor(vendor: string, { thinking, ...fields }: Given = {}): Record<string, unknown> {
  const compat = compatOf(PRESETS[vendor]?.baseUrl ?? "", vendor);
  return toOpenAIBody(modelRequest(fields), { provider: vendor, compat, cacheKey: "s-1", ...(thinking === undefined ? {} : { thinking }) });
}

const CHAT = Object.entries(PRESETS).flatMap(([name, { protocol }]) => (protocol === "openai" ? [name] : []));
const assistant = (content: AssistantMessage["content"], provider = "p"): AssistantMessage => ({
  role: "assistant",
  provider,
  model: "mock-1",
  content,
});

describe("each vendor with OpenAI's protocol gets", () => {
  test("only the fields that it takes, besides those that all take", () => {
    const common = ["model", "stream", "stream_options", "tools", "messages"];
    const extra = Object.fromEntries(CHAT.map((name) => [name, Object.keys(bodyFor(name)).filter((key) => !common.includes(key))]));
    expect(extra).toEqual({
      openai: ["max_completion_tokens", "store", "prompt_cache_key"],
      openrouter: ["max_tokens"],
      deepseek: ["max_tokens"],
      glm: ["max_tokens", "tool_stream"],
      qwen: ["max_tokens"],
      kimi: ["max_tokens"],
      ollama: ["max_tokens"],
      lmstudio: ["max_tokens"],
      "llama.cpp": ["max_tokens"],
      vllm: ["max_tokens"],
    });
  });

  test("thinking in its own words, on and off", () => {
    const thinkingOf = (name: string, thinking: Thinking) => {
      const plain = new Set(Object.keys(bodyFor(name)));
      return Object.fromEntries(Object.entries(bodyFor(name, { thinking })).filter(([key]) => !plain.has(key)));
    };
    expect(Object.fromEntries(CHAT.map((name) => [name, [thinkingOf(name, "high"), thinkingOf(name, false)]]))).toEqual({
      openai: [{ reasoning_effort: "high" }, {}],
      openrouter: [{ reasoning: { effort: "high" } }, { reasoning: { enabled: false } }],
      deepseek: [{ thinking: { type: "enabled" }, reasoning_effort: "high" }, { thinking: { type: "disabled" } }],
      glm: [{ thinking: { type: "enabled", clear_thinking: false } }, { thinking: { type: "disabled" } }],
      qwen: [{ enable_thinking: true }, { enable_thinking: false }],
      kimi: [{ thinking: { type: "enabled" } }, { thinking: { type: "disabled" } }],
      ollama: [{ reasoning_effort: "high" }, {}],
      lmstudio: [{ reasoning_effort: "high" }, {}],
      "llama.cpp": [{ chat_template_kwargs: { enable_thinking: true } }, { chat_template_kwargs: { enable_thinking: false } }],
      vllm: [{ chat_template_kwargs: { enable_thinking: true } }, { chat_template_kwargs: { enable_thinking: false } }],
    });
    expect(thinkingOf("qwen", 4000)).toEqual({ enable_thinking: true, thinking_budget: 4000 });
    expect(thinkingOf("openrouter", 4000)).toEqual({ reasoning: { max_tokens: 4000 } });
    expect(thinkingOf("deepseek", "xhigh")).toMatchObject({ reasoning_effort: "max" });
    expect(thinkingOf("openai", true)).toEqual({ reasoning_effort: "medium" });
  });

  test("the system prompt as developer only where the model is a reasoning one of OpenAI's", () => {
    const role = (vendor: string, model: string) => (bodyFor(vendor, { model }).messages as { role: string }[])[0]?.role;
    expect([role("openai", "gpt-5.4"), role("openai", "o3"), role("openai", "gpt-4o"), role("deepseek", "gpt-5.4")]).toEqual([
      "developer",
      "developer",
      "system",
      "system",
    ]);
  });

  test("cache marks only on OpenRouter and only for Claude, on text parts", () => {
    const messages = [
      userText("one"),
      assistant([{ type: "text", text: "two" }]),
      userText("three"),
      assistant([{ type: "text", text: "4" }]),
      userText("five"),
    ];
    const marks = (model: string, vendor = "openrouter") =>
      (bodyFor(vendor, { model, messages }).messages as { content: unknown }[]).map(({ content }) =>
        JSON.stringify(content).includes("cache_control"),
      );
    expect(marks("anthropic/claude-opus-4.8")).toEqual([true, false, false, true, false, true]);
    expect(marks("z-ai/glm-5.3")).not.toContain(true);
    expect(marks("claude-opus-4-8", "vllm")).not.toContain(true);
  });

  test("call ids of nine letters and digits for Mistral's models, the same in call and result", () => {
    const messages: Message[] = [
      userText("x"),
      assistant([
        { type: "tool_use", id: "call_abcdefghijk", name: "ReadFile", input: {} },
        { type: "tool_use", id: "call_abcdefghijl", name: "ReadFile", input: {} },
        { type: "tool_use", id: "abc123XYZ", name: "ReadFile", input: {} },
      ]),
      {
        role: "user",
        content: ["call_abcdefghijk", "call_abcdefghijl", "abc123XYZ"].map((toolUseId) => ({
          type: "tool_result",
          toolUseId,
          content: [],
          isError: false,
        })),
      },
    ];
    const sent = JSON.stringify(bodyFor("lmstudio", { model: "mistralai/devstral-small", messages }));
    const calls = [...sent.matchAll(/"id":"([^"]+)"/g)].map((match) => match[1]);
    expect(calls).toEqual([expect.stringMatching(/^[A-Za-z0-9]{9}$/), expect.stringMatching(/^[A-Za-z0-9]{9}$/), "abc123XYZ"]);
    expect(new Set(calls).size).toBe(3);
    expect([...sent.matchAll(/"tool_call_id":"([^"]+)"/g)].map((match) => match[1])).toEqual(calls);
    expect(JSON.stringify(bodyFor("lmstudio", { model: "qwen3", messages }))).toContain("call_abcdefghijk");
  });

  test("two messages of the user in a row as one, where templates refuse them", () => {
    const image = { type: "image" as const, mediaType: "image/png", data: "AA==" };
    const messages: Message[] = [userText("one"), userText("two"), { role: "user", content: [image] }];
    const contents = (vendor: string) =>
      (bodyFor(vendor, { system: "", messages }).messages as { content: unknown }[]).map(({ content }) => content);
    expect(contents("openai")).toHaveLength(3);
    expect(contents("vllm")).toEqual([
      [
        { type: "text", text: "one\n\ntwo" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
      ],
    ]);
  });

  test("an empty reasoning_content with each call on DeepSeek", () => {
    const messages = [userText("x"), assistant([{ type: "tool_use", id: "c", name: "ReadFile", input: {} }], "other")];
    expect(JSON.stringify(bodyFor("deepseek", { messages }))).toContain('"reasoning_content":""');
    expect(JSON.stringify(bodyFor("kimi", { messages }))).not.toContain("reasoning_content");
  });
});

test("a vendor is known by its host; a local server by its name or its port; a host of one's own under a vendor's name is nobody", () => {
  expect(compatOf("https://eu.api.openai.com/v1")).toMatchObject({ store: true });
  expect(compatOf("http://192.168.1.5:11434/v1")).toMatchObject({ mergeUserMessages: true });
  expect(compatOf("http://gpu-box:9999/v1", "vllm")).toMatchObject({ thinkingStyle: "chat_template_kwargs" });
  expect(compatOf("https://gateway.test/v1", "openai")).toEqual(compatOf("https://elsewhere.test/v1"));
});

test("every field of the record can be set in the settings, and reaches the server", async () => {
  await using server = await rawServer({ steps: [vectorBytes("oai-finish-no-done")] });
  const compat: NonNullable<ProviderSettings["compat"]> = {
    maxTokensField: "max_completion_tokens",
    streamOptions: false,
    store: true,
    developerRole: true,
    strictTools: true,
    toolStream: true,
    promptCacheKey: true,
    cacheMarks: true,
    thinkingStyle: "enable_thinking",
    alwaysReasoning: true,
    echoReasoning: true,
    nineCharacterIds: true,
    mergeUserMessages: true,
    idleMs: 1000,
  };
  expect(Object.keys(compat).sort()).toEqual(Object.keys({ ...compatOf(""), nineCharacterIds: true }).sort());
  const providers = ProvidersSchema.parse([
    { name: "mine", protocol: "openai", baseUrl: server.url, model: "gpt-5.4", compat, thinking: true },
  ]);
  const { client } = selectModel({ providers, env: {}, cacheKey: "session-1" });
  const messages = [userText("a"), userText("b")];
  await collect(client.stream(modelRequest({ model: "gpt-5.4", messages }), new AbortController().signal));
  const body = JSON.parse(server.requests[0]?.body ?? "");
  expect(body).toMatchObject({
    max_completion_tokens: 1000,
    store: false,
    prompt_cache_key: "session-1",
    tool_stream: true,
    enable_thinking: true,
    tools: [{ function: { strict: false } }],
    messages: [{ role: "developer" }, { role: "user", content: [{ text: "a\n\nb", cache_control: { type: "ephemeral" } }] }],
  });
  expect(body).not.toHaveProperty("stream_options");
});

test("a stream may be silent as long as the record says", async () => {
  await using server = await rawServer({ steps: [vectorBytes("oai-eof-no-finish"), "hang"] });
  const { client } = selectModel({
    providers: [{ name: "mine", protocol: "openai", baseUrl: server.url, model: "m", compat: { idleMs: 40 } }],
    env: {},
  });
  const events = await collect(client.stream(modelRequest(), new AbortController().signal));
  expect(events.at(-2)).toMatchObject({ type: "error", kind: "stalled", text: "The server sent nothing for 0.04 s." });
});

describe("Anthropic's protocol", () => {
  const thinking = (model: string, value: Thinking, extraBody = {}) => {
    const {
      thinking: asked,
      output_config,
      ...rest
    } = toAnthropicBody(modelRequest({ model, maxTokens: 32_000 }), { provider: "p", thinking: value, extraBody });
    return { asked, output_config, rest };
  };

  test("asks new models to think as they like, with an effort, and old ones with a budget", () => {
    expect(thinking("claude-opus-4-8", "high")).toMatchObject({ asked: { type: "adaptive" }, output_config: { effort: "high" } });
    expect(thinking("claude-sonnet-5-5", 8000)).toMatchObject({ asked: { type: "adaptive" } });
    expect(thinking("anthropic/claude-opus-4.6", 8000)).toMatchObject({ asked: { type: "enabled", budget_tokens: 8000 } });
    expect(thinking("claude-sonnet-4-20250514", true)).toMatchObject({ asked: { type: "enabled", budget_tokens: 10_000 } });
    expect(thinking("claude-opus-4-5", "max")).toMatchObject({ asked: { type: "enabled", budget_tokens: 30_976 } });
    expect(thinking("claude-opus-4-8", false).asked).toBeUndefined();
  });

  test("sends no temperature together with thinking", () => {
    expect(thinking("claude-opus-4-8", true, { temperature: 0, top_p: 1, metadata: {} }).rest).toMatchObject({ metadata: {} });
    expect(thinking("claude-opus-4-8", true, { temperature: 0 }).rest).not.toHaveProperty("temperature");
    expect(thinking("claude-opus-4-8", false, { temperature: 0 }).rest).toMatchObject({ temperature: 0 });
  });

  test("sends no cache marks where they are not taken", () => {
    expect(JSON.stringify(toAnthropicBody(modelRequest(), { provider: "p", cacheMarks: false }))).not.toContain("cache_control");
  });

  test("neighbouring text blocks stay apart, since signed thinking covers them", async () => {
    const frames = [
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "a" } },
      { type: "content_block_stop", index: 0 },
      { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "b" } },
      { type: "message_delta", delta: { stop_reason: "end_turn" } },
      { type: "message_stop" },
    ];
    const bytes = Buffer.from(frames.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(""));
    const end = (await collect(parseAnthropic(inPieces(bytes, 20), { provider: "p", model: "m" }))).at(-1);
    expect(end).toMatchObject({ message: { content: [{ text: "a" }, { text: "b" }] } });
  });
});

test("Gemini's thought signature goes back on its call, to its own model only", async () => {
  const extra = { google: { thought_signature: "c2ln+/==" } };
  const chunks = [
    {
      choices: [
        { delta: { tool_calls: [{ index: 0, id: "call_1", function: { name: "ReadFile", arguments: "{}" }, extra_content: extra }] } },
      ],
    },
    { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
  ];
  const bytes = Buffer.from(`${chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("")}data: [DONE]\n\n`);
  const end = (await collect(parseOpenAI(inPieces(bytes, 30), { provider: "gemini", model: "mock-1" }))).at(-1);
  if (end?.type !== "end") throw new Error("no end");
  const sent = (message: AssistantMessage) =>
    JSON.stringify(toOpenAIBody(modelRequest({ messages: [message] }), { provider: "gemini", compat: compatOf("") }));
  expect(sent(end.message)).toContain(`"extra_content":${JSON.stringify(extra)}`);
  expect(sent({ ...end.message, model: "other" })).not.toContain("extra_content");
  expect(sent({ ...end.message, provider: "other" })).not.toContain("extra_content");
});
