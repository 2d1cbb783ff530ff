import { expect, test } from "vitest";
import type { ToolSpec } from "../../src/protocol/model.ts";
import { type Tool, textResult } from "../../src/protocol/tool.ts";
import { AgentTools } from "../../src/runtime/agent-tools.ts";

function named(name: string, text = name): Tool {
  return {
    name,
    description: text,
    inputSchema: { type: "object" },
    parse: (input) => input,
    access: () => ({ kind: "other", subject: "" }),
    isConcurrencySafe: () => false,
    run: async () => textResult(text),
  };
}
const names = (specs: readonly ToolSpec[]) => specs.map(({ name }) => name);

test("what is added stands at the end in the order of its discovery, once, and is told before the array grows", () => {
  const told: string[][] = [];
  const tools = new AgentTools({
    tools: [named("b"), named("a")],
    onAdd: (specs) => told.push([...names(specs), `of ${tools.sent.length}`]),
  });
  const { sent } = tools;
  tools.add([named("z"), named("c"), named("z")]);
  tools.add([named("c"), named("a")]);
  tools.add([named("d")]);
  expect(names(sent)).toEqual(["a", "b", "z", "c", "d"]);
  expect(told).toEqual([
    ["z", "c", "of 2"],
    ["d", "of 4"],
  ]);
});

test("what a session sent before is sent again as it was, whatever the tools are called now", () => {
  const old: ToolSpec = { name: "a", description: "as it was", inputSchema: { type: "object", properties: {} } };
  const tools = new AgentTools({ tools: [named("a", "as it is"), named("b")], sent: [old] });
  tools.add([named("a", "changed")]);
  expect(tools.sent).toEqual([old]);
  expect(tools.callable.get("a")?.description).toBe("changed");
  tools.add([named("b")]);
  expect(names(tools.sent)).toEqual(["a", "b"]);
});
