import { expect, test } from "vitest";
import { foreignNames, toolsNamed } from "../../src/protocol/tool-names.ts";

test("a name that takes away takes all it may mean; one that grants gives its namesake only", () => {
  for (const name of ["Edit", "Write", "MultiEdit", "NotebookEdit"])
    expect(toolsNamed(name, "deny"), name).toEqual(["EditFile", "WriteFile"]);
  expect(toolsNamed("Edit", "grant")).toEqual(["EditFile"]);
  expect(toolsNamed("Write", "grant")).toEqual(["WriteFile"]);
  expect(toolsNamed("NotebookEdit", "grant")).toEqual([]);
  expect(toolsNamed("EditFile", "deny")).toEqual(["EditFile"]);
});

test("names are found without regard to case; MCP tools stand for themselves; what nobody knows is undefined", () => {
  expect(toolsNamed("bash", "grant")).toEqual(["Bash"]);
  expect(toolsNamed("Task", "deny")).toEqual(["Agent"]);
  expect(toolsNamed("mcp__github__*", "grant")).toEqual(["mcp__github__*"]);
  expect(toolsNamed("WebSearch", "grant")).toEqual([]);
  expect(toolsNamed("Teleport", "grant")).toBeUndefined();
  expect(toolsNamed("constructor", "deny")).toBeUndefined();
});

test("a tool goes by all names of other products that may mean it", () => {
  expect(foreignNames(["WriteFile"], "grant")).toEqual(["Write"]);
  expect(foreignNames(["WriteFile"], "deny")).toEqual(["Write", "Edit", "MultiEdit", "NotebookEdit"]);
  expect(foreignNames(["Bash", "mcp__a__b"], "deny")).toEqual([]);
});
