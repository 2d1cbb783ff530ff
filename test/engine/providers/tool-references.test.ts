import { expect, test } from "vitest";
import { toAnthropicBody } from "../../../src/engine/providers/anthropic-body.ts";
import { type Message, userText } from "../../../src/protocol/message.ts";
import { modelRequest } from "../../support/requests.ts";

const spec = (name: string, more = {}) => ({ name, description: name, inputSchema: { type: "object" }, ...more });
const tools = [spec("ToolSearch"), spec("found", { isDeferred: true })];
const result = {
  type: "tool_result" as const,
  toolUseId: "c1",
  content: [{ type: "text" as const, text: "Found: found" }],
  isError: false,
};
const messages = (found?: string[]): Message[] => [
  userText("go"),
  { role: "assistant", provider: "p", model: "mock-1", content: [{ type: "tool_use", id: "c1", name: "ToolSearch", input: {} }] },
  { role: "user", content: [{ ...result, ...(found ? { found } : {}) }] },
];
const body = (history: Message[], toolReferences = true) =>
  JSON.stringify(toAnthropicBody(modelRequest({ tools, messages: history }), { provider: "p", toolReferences, cacheMarks: false }));

test("a tool that a result names is deferred, and the result is nothing but its name", () => {
  expect(body(messages(["found"]))).toContain('"name":"found","description":"found","input_schema":{"type":"object"},"defer_loading":true');
  expect(body(messages(["found"]))).toContain('"content":[{"type":"tool_reference","tool_name":"found"}]');
});

test("once a compaction has taken the result away, and where the server knows nothing of it, the tool is sent as any other", () => {
  for (const text of [body([userText("a summary")]), body(messages(["found"]), false), body(messages())])
    expect(text).not.toMatch(/defer_loading|tool_reference/);
  expect(body(messages(["found"]), false)).toContain("Found: found");
});
