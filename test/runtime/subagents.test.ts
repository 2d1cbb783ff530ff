import { expect, test } from "vitest";
import { childMode } from "../../src/runtime/run-subagent.ts";
import { subagentModel } from "../../src/runtime/subagent-model.ts";

test("a sub-agent's mode is never wider than its caller's, but for the person's own dontAsk", () => {
  expect(childMode("default", { level: "user", permissionMode: "bypassPermissions" })).toBe("default");
  expect(childMode("bypassPermissions", { level: "project", permissionMode: "plan" })).toBe("plan");
  expect(childMode("acceptEdits", { level: "user" })).toBe("acceptEdits");
  expect(childMode("default", { level: "user", permissionMode: "dontAsk" })).toBe("bypassPermissions");
  expect(childMode("default", { level: "project", permissionMode: "dontAsk" })).toBe("default");
  expect(childMode("plan", { level: "user", permissionMode: "dontAsk" })).toBe("plan");
});

const anthropic = { settings: {}, env: { ANTHROPIC_API_KEY: "k" }, flags: {} };
const foreign = {
  settings: { providers: [{ name: "deepseek", model: "deepseek-chat" }] },
  env: { DEEPSEEK_API_KEY: "k" },
  flags: {},
};

test.each([
  [undefined, "anthropic/claude-opus-5-5", anthropic, "anthropic/claude-opus-5-5", false],
  ["haiku", "anthropic/claude-opus-5-5", anthropic, "anthropic/claude-haiku-5-5", false],
  ["Opus", "anthropic/claude-haiku-5-5", anthropic, "anthropic/claude-opus-5-5", false],
  ["claude-sonnet-4-5", "anthropic/claude-opus-5-5", anthropic, "anthropic/claude-sonnet-4-5", false],
  ["gpt-5.6-sol", "anthropic/claude-opus-5-5", anthropic, "anthropic/claude-opus-5-5", true],
  ["gemini-3-pro", "anthropic/claude-opus-5-5", anthropic, "anthropic/claude-opus-5-5", true],
  ["haiku", "deepseek/deepseek-chat", foreign, "deepseek/deepseek-chat", false],
  ["deepseek/deepseek-reasoner", "deepseek/deepseek-chat", foreign, "deepseek/deepseek-reasoner", false],
])("model %s for a sub-agent of %s", (wanted, parent, surroundings, model, isRemarked) => {
  const found = subagentModel(wanted, parent, surroundings);
  expect(found.model).toBe(model);
  expect(found.remark !== undefined).toBe(isRemarked);
});
