import { describe, expect, test } from "vitest";
import { toAnthropicBody } from "../../../src/engine/providers/anthropic-body.ts";
import { parseAnthropic } from "../../../src/engine/providers/anthropic-stream.ts";
import { compatOf } from "../../../src/engine/providers/compat.ts";
import { toOpenAIBody } from "../../../src/engine/providers/openai-body.ts";
import { parseOpenAI } from "../../../src/engine/providers/openai-stream.ts";
import type { AssistantMessage, Message, UserMessage } from "../../../src/protocol/message.ts";
import { userText } from "../../../src/protocol/message.ts";
import type { ModelRequest } from "../../../src/protocol/model.ts";
import { modelRequest } from "../../support/requests.ts";
import { collect, inPieces, vectorBytes } from "../../support/streams.ts";

const MARK = { type: "ephemeral" };

function assistant(content: AssistantMessage["content"], fields: Partial<AssistantMessage> = {}): AssistantMessage {
  return { role: "assistant", provider: "p", model: "mock-1", content, ...fields };
}

function result(toolUseId: string, text: string, isError = false): UserMessage["content"][number] {
  return { type: "tool_result", toolUseId, content: [{ type: "text", text }], isError };
}

const call = (id: string, path: string) => ({ type: "tool_use" as const, id, name: "ReadFile", input: { path } });

function anthropicMessages(...messages: Message[]): unknown {
  return withoutMarks(toAnthropicBody(modelRequest({ messages }), { provider: "p" }).messages);
}

function openAIMessages(...messages: Message[]): unknown {
  return toOpenAIBody(modelRequest({ messages, system: "" }), { provider: "p", compat: compatOf("http://127.0.0.1/v1") }).messages;
}

function withoutMarks(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, inner) => (key === "cache_control" ? undefined : inner)));
}

/** A conversation as it grows: each entry is the history at one request. */
function growing(): Message[][] {
  const messages: Message[] = [
    userText("first"),
    assistant([{ type: "thinking", text: "hm", signature: "sig==" }, { type: "text", text: "Looking." }, call("c1", "a"), call("c2", "b")]),
    { role: "user", content: [result("c1", "A"), result("c2", "B", true)] },
    assistant([call("c3", "c")]),
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          toolUseId: "c3",
          content: [
            { type: "text", text: "C" },
            { type: "text", text: "<system-reminder>x</system-reminder>" },
          ],
          isError: false,
        },
      ],
    },
    assistant([{ type: "text", text: "Done." }]),
    userText("second"),
  ];
  return [1, 3, 5, 7].map((length) => messages.slice(0, length));
}

/** The JSON text without what closes it. */
function opened(body: unknown): string {
  return JSON.stringify(body).replace(/\]\}$/, "");
}

describe("the body for Anthropic's protocol", () => {
  test("has its keys in a fixed order with the messages last", () => {
    expect(Object.keys(toAnthropicBody(modelRequest(), { provider: "p", extraBody: { metadata: {} } }))).toEqual([
      "model",
      "max_tokens",
      "stream",
      "metadata",
      "tools",
      "system",
      "messages",
    ]);
  });

  test("extends the bytes of the body before, its cache marks aside", () => {
    const bodies = growing().map((messages) => opened(withoutMarks(toAnthropicBody(modelRequest({ messages }), { provider: "p" }))));
    for (const [index, body] of bodies.slice(1).entries()) expect(body.startsWith(bodies[index] ?? "none")).toBe(true);
  });

  test("marks the last tool, the system prompt and the ends of the last two user messages, and nothing else", () => {
    const tools = ["A", "B"].map((name) => ({ name, description: name, inputSchema: { type: "object" } }));
    const body = JSON.stringify(toAnthropicBody(modelRequest({ messages: growing().at(-1) ?? [], tools }), { provider: "p" }));
    expect(body.match(/cache_control/g)).toHaveLength(4);
    expect(JSON.parse(body)).toMatchObject({
      tools: [{ name: "A" }, { name: "B", cache_control: MARK }],
      system: [{ type: "text", cache_control: MARK }],
    });
    const { messages } = JSON.parse(body);
    expect(messages.at(-1).content.at(-1).cache_control).toEqual(MARK);
    expect(messages.at(-3).content.at(-1).cache_control).toEqual(MARK);
  });

  test("gives thinking and opaque blocks back to their own provider and model only", () => {
    const content: AssistantMessage["content"] = [
      { type: "thinking", text: "", signature: "s" },
      { type: "thinking", text: "interrupted" },
      { type: "opaque", provider: "p", raw: { type: "redacted_thinking", data: "d" } },
      { type: "text", text: "t" },
    ];
    const own = [
      { type: "thinking", thinking: "", signature: "s" },
      { type: "redacted_thinking", data: "d" },
      { type: "text", text: "t" },
    ];
    expect(anthropicMessages(assistant(content))).toEqual([{ role: "assistant", content: own }]);
    expect(anthropicMessages(assistant(content, { model: "other" }))).toEqual([
      { role: "assistant", content: [{ type: "text", text: "t" }] },
    ]);
    expect(anthropicMessages(assistant(content, { provider: "other" }))).toEqual([
      { role: "assistant", content: [{ type: "text", text: "t" }] },
    ]);
  });

  test("puts results first, marks failed ones, and sends no empty text", () => {
    const message: UserMessage = {
      role: "user",
      content: [{ type: "text", text: "steering" }, result("c1", ""), result("c2", "bad", true), { type: "text", text: " \n" }],
    };
    expect(anthropicMessages(assistant([call("c1", "a"), call("c2", "b"), { type: "text", text: "" }]), message)).toEqual([
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "c1", name: "ReadFile", input: { path: "a" } },
          { type: "tool_use", id: "c2", name: "ReadFile", input: { path: "b" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "c1" },
          { type: "tool_result", tool_use_id: "c2", content: [{ type: "text", text: "bad" }], is_error: true },
          { type: "text", text: "steering" },
        ],
      },
    ]);
  });

  test("sends a malformed call back as {}, and images as base64", () => {
    const malformed = assistant([{ type: "tool_use", id: "c", name: "X", input: {}, malformed: '{"a' }]);
    expect(anthropicMessages(malformed)).toEqual([{ role: "assistant", content: [{ type: "tool_use", id: "c", name: "X", input: {} }] }]);
    const image: Message = { role: "user", content: [{ type: "image", mediaType: "image/png", data: "AA==" }] };
    expect(anthropicMessages(image)).toEqual([
      { role: "user", content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" } }] },
    ]);
  });

  test("renames ids of another provider that it would refuse, the same in call and result", () => {
    const sent = JSON.stringify(
      anthropicMessages(assistant([call("functions.Read:0", "a")], { provider: "kimi" }), {
        role: "user",
        content: [result("functions.Read:0", "A")],
      }),
    );
    const [, first, second] = /"id":"([\w-]{1,64})".*"tool_use_id":"([\w-]{1,64})"/.exec(sent) ?? [];
    expect(first).toBeTruthy();
    expect(second).toBe(first);
  });

  test("asks for thinking only as configured, within the limit of the answer", () => {
    const thinking = (value: "adaptive" | number | undefined, maxTokens: number) =>
      toAnthropicBody(modelRequest({ maxTokens }), { provider: "p", ...(value ? { thinking: value } : {}) }).thinking;
    expect(thinking(undefined, 16_000)).toBeUndefined();
    expect(thinking("adaptive", 16_000)).toEqual({ type: "adaptive" });
    expect(thinking(20_000, 16_000)).toEqual({ type: "enabled", budget_tokens: 14_976 });
  });
});

describe("the body for OpenAI's protocol", () => {
  test("extends the bytes of the body before", () => {
    const options = { provider: "p", compat: compatOf("https://api.openai.com/v1") };
    const bodies = growing().map((messages) => opened(toOpenAIBody(modelRequest({ messages }), options)));
    for (const [index, body] of bodies.slice(1).entries()) expect(body.startsWith(bodies[index] ?? "none")).toBe(true);
  });

  test("has one tool message a call directly behind the assistant's, and then the rest of the user's", () => {
    const message: UserMessage = {
      role: "user",
      content: [{ type: "text", text: "steering" }, result("c1", "A"), result("c2", "no such file", true)],
    };
    expect(openAIMessages(assistant([{ type: "text", text: "Both." }, call("c1", "a"), call("c2", "b")]), message)).toEqual([
      {
        role: "assistant",
        content: "Both.",
        tool_calls: [
          { id: "c1", type: "function", function: { name: "ReadFile", arguments: '{"path":"a"}' } },
          { id: "c2", type: "function", function: { name: "ReadFile", arguments: '{"path":"b"}' } },
        ],
      },
      { role: "tool", tool_call_id: "c1", content: "A" },
      { role: "tool", tool_call_id: "c2", content: "Error: no such file" },
      { role: "user", content: "steering" },
    ]);
  });

  test("sends a result's image in a user message behind all results", () => {
    const image = { type: "image" as const, mediaType: "image/png", data: "AA==" };
    const message: UserMessage = {
      role: "user",
      content: [{ type: "tool_result", toolUseId: "c1", content: [image], isError: false }, result("c2", "B")],
    };
    expect(openAIMessages(message)).toEqual([
      { role: "tool", tool_call_id: "c1", content: "[The image is in the next user message.]" },
      { role: "tool", tool_call_id: "c2", content: "B" },
      { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }] },
    ]);
  });

  test("gives reasoning back in the field in which it came, to its own model only", async () => {
    for (const [vector, field] of [
      ["oai-thinking-reasoning-content", "reasoning_content"],
      ["oai-thinking-reasoning", "reasoning"],
    ] as const) {
      const end = (await collect(parseOpenAI(inPieces(vectorBytes(vector), 50), { provider: "p", model: "mock-1" }))).at(-1);
      if (end?.type !== "end") throw new Error("no end");
      expect(openAIMessages(end.message)).toMatchObject([{ role: "assistant", content: "Yes.", [field]: "Hmm, ok." }]);
      expect(openAIMessages({ ...end.message, model: "other" })).toEqual([{ role: "assistant", content: "Yes." }]);
    }
  });

  test("joins the pieces of OpenRouter's reasoning details", async () => {
    const end = (await collect(parseOpenAI(inPieces(vectorBytes("oai-thinking-reasoning"), 50), { provider: "p", model: "mock-1" }))).at(
      -1,
    );
    if (end?.type !== "end") throw new Error("no end");
    expect(openAIMessages(end.message)).toMatchObject([{ reasoning_details: [{ type: "reasoning.text", text: "Hmm, ok.", index: 0 }] }]);
  });

  test("names the limit as the server knows it", () => {
    const keys = (url: string) => Object.keys(toOpenAIBody(modelRequest(), { provider: "p", compat: compatOf(url) }));
    expect(keys("https://api.openai.com/v1")).toContain("max_completion_tokens");
    expect(keys("http://127.0.0.1:11434/v1")).toContain("max_tokens");
  });

  test("an empty tools list and an empty system prompt are left out", () => {
    const body = toOpenAIBody(modelRequest({ tools: [], system: "" }), { provider: "p", compat: compatOf("") });
    expect(body).not.toHaveProperty("tools");
    expect(body.messages).toEqual([{ role: "user", content: "hello" }]);
  });
});

test("what a provider alone understands survives the way through the history unchanged", async () => {
  const request = (message: AssistantMessage): ModelRequest => modelRequest({ messages: [userText("x"), message] });
  for (const [vector, kept] of [
    ["ant-thinking-signature", { type: "thinking", thinking: "Let me see.", signature: "EqQBsig==" }],
    ["ant-thinking-redacted", { type: "redacted_thinking", data: "opaque+data==" }],
    ["ant-server-tool", { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } }],
  ] as const) {
    const end = (await collect(parseAnthropic(inPieces(vectorBytes(vector), 9), { provider: "p", model: "mock-1" }))).at(-1);
    if (end?.type !== "end") throw new Error("no end");
    expect(toAnthropicBody(request(end.message), { provider: "p" }).messages).toMatchObject([
      {},
      { role: "assistant", content: expect.arrayContaining([kept]) },
    ]);
  }
});

test("an id that the history has already is replaced", async () => {
  const context = { provider: "p", model: "m", usedIds: new Set(["call_1"]) };
  const end = (await collect(parseOpenAI(inPieces(vectorBytes("oai-tool-basic"), 50), context))).at(-1);
  expect(end).toMatchObject({ message: { content: [{ type: "tool_use", id: expect.not.stringMatching(/^call_1$/) }] } });
});

test("arguments that are no JSON object are kept as text beside an empty input", async () => {
  const end = (await collect(parseOpenAI(inPieces(vectorBytes("oai-args-invalid-json"), 50), { provider: "p", model: "m" }))).at(-1);
  expect(end).toMatchObject({ message: { content: [{ input: {}, malformed: '{"path":"a", text: oops' }, { input: { path: "b" } }] } });
});

test("a block of a later version in the history is left out, not sent and not fatal", () => {
  // What a session file of a later version could hold.
  const strange = JSON.parse('{"type":"hologram","data":"z"}') as { type: "text"; text: string };
  const history: Message[] = [
    { role: "user", content: [{ type: "text", text: "x" }, strange] },
    assistant([{ type: "text", text: "y" }, strange]),
  ];
  expect(JSON.stringify([anthropicMessages(...history), openAIMessages(...history)])).not.toContain("hologram");
  expect(openAIMessages(...history)).toEqual([
    { role: "user", content: "x" },
    { role: "assistant", content: "y" },
  ]);
});
