import { expect, test } from "vitest";
import {
  ALL_AGENT_DISALLOWED_TOOLS,
  ASYNC_AGENT_ALLOWED_TOOLS,
  CUSTOM_AGENT_DISALLOWED_TOOLS,
  IN_PROCESS_TEAMMATE_ALLOWED_TOOLS,
  mayUse,
  mayUseInProcess,
} from "../../../src/engine/subagents/filter-tools.ts";

const custom = (fields: { tools?: string[]; disallowedTools?: string[] } = {}) => ({
  level: "user" as const,
  disallowedTools: [],
  ...fields,
});
const builtIn = { level: "built-in" as const, disallowedTools: [] };

test("no sub-agent starts agents, asks the person or stops tasks, whatever its definition says", () => {
  for (const name of ALL_AGENT_DISALLOWED_TOOLS) {
    expect(mayUse(name, { definition: custom({ tools: [name] }), isBackground: false })).toBe(false);
    expect(mayUse(name, { isBackground: true })).toBe(false);
  }
  expect(ALL_AGENT_DISALLOWED_TOOLS).toEqual(expect.arrayContaining(["Agent", "AskUserQuestion", "TaskStop"]));
});

test("a custom one has less than a built-in one", () => {
  for (const name of CUSTOM_AGENT_DISALLOWED_TOOLS) {
    expect(mayUse(name, { definition: custom(), isBackground: false })).toBe(false);
    expect(mayUse(name, { definition: builtIn, isBackground: false })).toBe(true);
  }
});

test("in the background only what stands in the list, and the tools of servers", () => {
  expect(mayUse("SomeTool", { definition: builtIn, isBackground: false })).toBe(true);
  expect(mayUse("SomeTool", { definition: builtIn, isBackground: true })).toBe(false);
  expect(mayUse("mcp__git__log", { definition: builtIn, isBackground: true })).toBe(true);
  for (const name of ASYNC_AGENT_ALLOWED_TOOLS) expect(mayUse(name, { definition: builtIn, isBackground: true })).toBe(true);
});

test("the definition's own lists: what is taken away wins", () => {
  const definition = custom({ tools: ["ReadFile", "Bash", "mcp__git", "mcp__db__*"], disallowedTools: ["Bash"] });
  const allowed = ["ReadFile", "Bash", "Grep", "mcp__git__log", "mcp__db__query", "mcp__other__x"];
  expect(allowed.filter((name) => mayUse(name, { definition, isBackground: false }))).toEqual([
    "ReadFile",
    "mcp__git__log",
    "mcp__db__query",
  ]);
  expect(mayUse("mcp__x__y", { definition: custom({ disallowedTools: ["mcp__*"] }), isBackground: false })).toBe(false);
});

test("a teammate inside the lead's process has the Agent tool and no way to end the team's work", () => {
  expect(IN_PROCESS_TEAMMATE_ALLOWED_TOOLS).toContain("Agent");
  expect(mayUseInProcess("Converge")).toBe(false);
  expect(mayUseInProcess("mcp__git__log")).toBe(true);
});

test("a star takes away, and grants, all that begins so: some tools of a server, and a server with __ in its name", () => {
  const names = ["mcp__hub__create_issue", "mcp__hub__get_issue", "mcp__my__db__drop"];
  const left = (rules: object) => names.filter((name) => mayUse(name, { definition: custom(rules), isBackground: false }));
  expect(left({ disallowedTools: ["mcp__hub__create_*", "mcp__my__db__*"] })).toEqual(["mcp__hub__get_issue"]);
  expect(left({ tools: ["mcp__hub__get_*"] })).toEqual(["mcp__hub__get_issue"]);
});
