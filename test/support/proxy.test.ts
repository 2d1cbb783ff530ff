import { expect, test } from "vitest";
import { fakeModel } from "./fake-model.ts";

test("a history with an unanswered call gets the vendor's 400 and fails assertLegal", async () => {
  await using model = await fakeModel(() => ({ text: "never" }));
  const body = {
    model: "m",
    max_tokens: 10,
    tools: [{ name: "Bash", input_schema: {} }],
    messages: [
      { role: "user", content: "go" },
      { role: "assistant", content: [{ type: "tool_use", id: "call_1", name: "Bash", input: {} }] },
      { role: "user", content: "and?" },
    ],
  };
  const response = await fetch(`${model.proxy.anthropicUrl}/v1/messages`, { method: "POST", body: JSON.stringify(body) });
  expect(response.status).toBe(400);
  expect(await response.text()).toContain("`tool_use` ids were found without `tool_result` blocks immediately after: call_1");
  expect(model.requests).toEqual([]);
  expect(() => model.proxy.assertLegal()).toThrow("unpaired-call");
});

test("a conversation whose old bytes change fails assertLegal", async () => {
  await using model = await fakeModel(() => ({ text: "yes" }));
  for (const system of ["one", "two"]) {
    const body = {
      model: "m",
      stream: true,
      messages: [
        { role: "system", content: system },
        { role: "user", content: "go" },
      ],
    };
    const response = await fetch(`${model.proxy.openaiUrl}/chat/completions`, { method: "POST", body: JSON.stringify(body) });
    expect(await response.text()).toContain("data: [DONE]");
  }
  expect(() => model.proxy.assertLegal()).toThrow("unstable-prefix");
});
