import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readDefinition } from "../../../src/engine/subagents/definition-file.ts";
import { loadDefinitions } from "../../../src/engine/subagents/definitions.ts";
import { tempFolder } from "../../support/temp.ts";

function read(head: string, body = "You do it.", file = "agents/some.md") {
  return readDefinition(`---\n${head}\n---\n\n${body}\n`, file);
}

function fields(head: string) {
  const found = read(head);
  return found && "fields" in found ? found.fields : undefined;
}

test("a definition gives a kind of agent, with tools in RooCode's names", () => {
  const head =
    "name: fixer\ndescription: Fixes\ntools: Read, Edit, Bash\nmodel: opus\nmaxTurns: 7\npermissionMode: plan\nisolation: worktree\nbackground: true\nskills: [a, b]\nmemory: user";
  expect(read(head)).toEqual({
    name: "fixer",
    verdict: "load",
    reason: "",
    fields: {
      name: "fixer",
      description: "Fixes",
      prompt: "You do it.",
      tools: ["ReadFile", "EditFile", "Bash"],
      disallowedTools: [],
      model: "opus",
      maxTurns: 7,
      permissionMode: "plan",
      isolation: "worktree",
      background: true,
      skills: ["a", "b"],
      memory: "user",
    },
  });
});

test("a name that takes away takes all it may mean; one that grants only its namesake", () => {
  expect(fields("name: a\ndescription: d\ndisallowedTools: [Edit]")?.disallowedTools).toEqual(["EditFile", "WriteFile"]);
  expect(fields("name: a\ndescription: d\ntools: Edit")?.tools).toEqual(["EditFile"]);
});

test.each([
  ["tools: '*'", undefined],
  ["tools:", undefined],
  ["tools: []", []],
  ["tools: Read Grep", ["ReadFile", "Grep"]],
  ["tools:\n  - Read\n  - mcp__git__log", ["ReadFile", "mcp__git__log"]],
  ["tools: Bash(git add *), Read", ["Bash", "ReadFile"]],
])("%s", (line, tools) => {
  expect(fields(`name: a\ndescription: d\n${line}`)?.tools).toEqual(tools);
});

test("a tool that nobody knows is named, and takes nothing from the rest", () => {
  expect(read("name: a\ndescription: d\ntools: Read, Frobnicate")).toMatchObject({
    verdict: "load",
    reason: "agents/some.md: RooCode knows no tool Frobnicate.",
    fields: { tools: ["ReadFile"] },
  });
});

test("F-03: values of another type are taken as text, in both spellings of the list", () => {
  const odd = "name: 42\ndescription: true\nargument-hint: [file: a | b]\napplyTo: **/*.ts\nallowedTools: ReadFile, Grep";
  expect(read(odd)).toMatchObject({ name: "42", verdict: "warn", fields: { description: "true", tools: ["ReadFile", "Grep"] } });
  expect(fields("name: 42\ndescription: true\nallowed-tools:\n  - ReadFile\n  - Grep")?.tools).toEqual(["ReadFile", "Grep"]);
});

test("F-05: a prompt in the front matter is used where there is no body; with neither there is no agent", () => {
  expect(read("name: a\ndescription: d\nprompt: You are X", "")).toMatchObject({ verdict: "warn", fields: { prompt: "You are X" } });
  expect(read("name: a\ndescription: d", "")).toEqual({
    name: "some",
    verdict: "refuse",
    reason: "agents/some.md:1: it has no prompt: neither text behind the front matter nor a field `prompt`.",
  });
});

test.each([
  ["no front matter", "Just text.", "refuse"],
  ["front matter that is not closed", "---\nname: a\n", "refuse"],
  ["no description", "---\nname: a\n---\nx\n", "refuse"],
  ["a list in place of fields", "---\n- a\n---\nx\n", "refuse"],
  ["no name", "---\ndescription: d\n---\nx\n", "warn"],
  ["carriage returns", "---\r\nname: some\r\ndescription: d\r\n---\r\nx\r\n", "warn"],
  ["a byte order mark", "\uFEFF---\nname: some\ndescription: d\n---\nx\n", "warn"],
  ["blank lines before it", "\n---\nname: some\ndescription: d\n---\nx\n", "warn"],
  ["a colon in the description", "---\nname: some\ndescription: Two modes: fast and safe\n---\nx\n", "warn"],
  ["another maker's model", "---\nname: some\ndescription: d\nmodel: gpt-9\n---\nx\n", "warn"],
  ["a full id of Claude", "---\nname: some\ndescription: d\nmodel: claude-opus-5\n---\nx\n", "load"],
  ["a name unlike the file", "---\nname: Other One\ndescription: d\n---\nx\n", "load"],
])("%s: the verdict that people's corpora want", (_what, text, verdict) => {
  expect(readDefinition(text, "agents/some.md")?.verdict).toBe(verdict);
});

test("F-04: the good one is usable, the broken one is named once with its line, a README is none", async () => {
  await using folder = await tempFolder();
  await writeFile(join(folder.path, "good.md"), "---\nname: good\ndescription: d\n---\nx\n");
  await writeFile(join(folder.path, "broken.md"), "---\n  name: broken\n description: [\n---\nx\n");
  await writeFile(join(folder.path, "README.md"), "# Agents\n");
  const { agents, reports } = await loadDefinitions([{ path: folder.path, level: "project" }]);
  expect([...agents.keys()]).toEqual(["good"]);
  expect(reports.map(({ name, verdict }) => [name, verdict])).toEqual([
    ["broken", "refuse"],
    ["good", "load"],
  ]);
  expect(reports[0]?.reason).toMatch(/broken\.md:\d: /);
});

test("the earlier folder's wins, without regard to case; the other is named", async () => {
  await using folder = await tempFolder();
  const paths = ["project", "user"].map((name) => join(folder.path, name));
  for (const path of paths) {
    await mkdir(join(path, "deep"), { recursive: true });
    await writeFile(join(path, "deep", "one.md"), `---\nname: ${path === paths[0] ? "One" : "one"}\ndescription: ${path}\n---\nx\n`);
  }
  const [project = "", user = ""] = paths;
  const { agents, reports } = await loadDefinitions([
    { path: project, level: "project" },
    { path: user, level: "user" },
    { path: join(folder.path, "nowhere"), level: "user" },
  ]);
  expect(agents.get("one")).toMatchObject({ level: "project", description: project });
  expect(reports.map(({ verdict }) => verdict)).toEqual(["load", "warn"]);
});

test("one that is off is not used, and says why", async () => {
  await using folder = await tempFolder();
  await writeFile(join(folder.path, "a.md"), "---\nname: a\ndescription: d\n---\nx\n");
  const { agents, reports } = await loadDefinitions([{ path: folder.path, level: "project", isOff: async () => "not accepted." }]);
  expect(agents.size).toBe(0);
  expect(reports).toMatchObject([{ verdict: "warn", reason: expect.stringContaining("not accepted.") }]);
});
