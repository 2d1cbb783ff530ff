import { join } from "node:path";
import { expect, test } from "vitest";
import { readToolJson } from "../../../src/tools/skills/tool-json.ts";
import { filesIn } from "../../support/skills.ts";

const TOOL = { name: "fix", description: "Fixes it.", command: "cat" };

async function toolsOf(text: string, skill = "fmt") {
  await using made = await filesIn({ "tool.json": text });
  const { tools, problems } = await readToolJson(skill, made.path);
  return {
    names: tools.map(({ name }) => name),
    tools,
    problems: problems.map((problem) => problem.replace(join(made.path, "tool.json"), "FILE")),
  };
}

test("one tool, a list and an object with a list are read; the skill's name stands before the tool's", async () => {
  for (const content of [TOOL, [TOOL], { tools: [TOOL] }])
    expect(await toolsOf(JSON.stringify(content))).toMatchObject({ names: ["skill__fmt__fix"], problems: [] });
  const { tools } = await toolsOf(
    JSON.stringify({ ...TOOL, input_schema: { type: "object", properties: { path: { type: "string" } } }, timeoutMs: 5 }),
  );
  expect(tools[0]).toMatchObject({ inputSchema: { properties: { path: { type: "string" } } }, timeoutMs: 5 });
  expect((await toolsOf(JSON.stringify(TOOL), "Größe:x")).names).toEqual(["skill__Gr__e_x__fix"]);
});

test("a tool that can't be used costs only itself, and is named with file and reason", async () => {
  const bad = [
    { ...TOOL, name: "a b" },
    { name: "nothing" },
    { ...TOOL, name: "list", schema: { type: "array" } },
    { ...TOOL, name: "x".repeat(60) },
    { ...TOOL, name: "odd", schema: { type: "object", properties: { "a b": {} } } },
    { ...TOOL, name: "any", schema: { type: "object", anyOf: [] } },
    TOOL,
    TOOL,
    7,
  ];
  const { names, problems } = await toolsOf(JSON.stringify(bad));
  expect(names).toEqual(["skill__fmt__fix"]);
  expect(problems).toHaveLength(8);
  expect(problems[0]).toBe("FILE: tool 1: name: has letters, digits, _ and - only");
  expect(problems[6]).toBe("FILE: tool 8: another one before it has its name");
});

test("500 tools: the first 50 count, and one line says so; what is no JSON is named", async () => {
  const { names, problems } = await toolsOf(JSON.stringify(Array.from({ length: 500 }, (_, index) => ({ ...TOOL, name: `t${index}` }))));
  expect(names).toHaveLength(50);
  expect(problems).toEqual(["FILE has 500 tools; only the first 50 count"]);
  expect((await toolsOf("{ nonsense")).problems[0]).toMatch(/^FILE is no JSON: /);
  expect(await toolsOf(`"${"x".repeat(300_000)}"`)).toMatchObject({ names: [], problems: ["FILE has more than 200000 characters"] });
});
