import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type CheckSurroundings, oneCall, permissionsCheck } from "../../../src/interaction/commands/permissions-check.ts";
import { ruleSet } from "../../../src/safety/rules.ts";
import { tempFolder } from "../../support/temp.ts";

const surroundings: CheckSurroundings = {
  cwd: "/home/dev/proj",
  root: "/home/dev/proj",
  home: "/home/dev",
  dataFolder: "/home/dev/.roocode",
  extraRoots: [],
  readRoots: [],
  mode: "default",
  isTrusted: false,
  rules: async () => ruleSet({ user: ["allow Bash(npm test)"], project: ["allow Bash(npm run *)"] }),
};

async function check(lines: AsyncIterable<string> | readonly string[]) {
  const out: string[] = [];
  const warnings: string[] = [];
  const feed = async function* () {
    yield* lines;
  };
  const exitCode = await permissionsCheck(feed(), { out: (line) => out.push(line), warn: (line) => warnings.push(line) }, surroundings);
  return { exitCode, answers: out.map((line) => JSON.parse(line)), warnings };
}

const bash = (command: string, more: object = {}) => JSON.stringify({ tool: "Bash", input: { command }, ...more });

test("calls are answered in their order, each with its id", async () => {
  const { answers, exitCode } = await check([bash("rm -rf /", { id: "a" }), bash("ls", { id: 7 }), bash("npm publish")]);
  expect(answers.map(({ id, decision, layer }) => [id, decision, layer])).toEqual([
    ["a", "deny", "danger"],
    [7, "allow", "mode"],
    [3, "ask", "mode"],
  ]);
  expect(exitCode).toBe(0);
});

test("a line that is no call is one clear error, and the others are still answered", async () => {
  const { answers, exitCode } = await check([
    "{",
    bash("ls"),
    '{"tool":"Bash"}',
    '{"tool":"Bash","input":{}}',
    bash("ls", { mode: "free" }),
  ]);
  expect(answers.map((answer) => [answer.id, typeof answer.error])).toEqual([
    [1, "string"],
    [2, "undefined"],
    [3, "string"],
    [4, "string"],
    [5, "string"],
  ]);
  expect(answers[3].error).toContain('Line 4: Bash needs "command"');
  expect(exitCode).toBe(2);
});

test("a rule list of the call stands instead of the settings files", async () => {
  const { answers } = await check([
    bash("npm test"),
    bash("npm test", { local: [] }),
    bash("npm run x"),
    bash("npm run x", { project: ["allow Bash(npm run *)"] }),
  ]);
  expect(answers.map(({ decision }) => decision)).toEqual(["allow", "ask", "ask", "allow"]);
});

test("without a person an ask is a denial that names the rule", async () => {
  const { answers } = await check([bash("npm publish", { headless: true })]);
  expect(answers[0]).toMatchObject({ decision: "deny", sticky: false, layer: "mode" });
  expect(answers[0].reason).toContain('"Bash(npm publish)"');
});

test("a single call is given by its tool and input", async () => {
  const { answers } = await check(oneCall("WriteFile", '{"path": ".git/config",\n "content": "x"}'));
  expect(answers[0]).toMatchObject({ id: 1, decision: "deny", layer: "path" });
});

test("every vector is decided the same by the command", async () => {
  await using temp = await tempFolder("check");
  const root = join(temp.path, "home", "proj");
  await mkdir(root, { recursive: true });
  const read = async (name: string) =>
    (await readFile(`test/fixtures/security/${name}`, "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  const commands = await read("dangerous.jsonl");
  const rules = (await read("rules.jsonl")).filter((entry) => entry.setup === undefined);
  const lines = [
    ...commands.map(({ id, cmd, cwd, allow }) =>
      bash(cmd, { id, cwd, root: "/home/dev/proj", home: "/home/dev", trusted: true, local: allow.map((rule: string) => `allow ${rule}`) }),
    ),
    ...rules.map(({ id, tool, input, mode, trusted, user, project, local }) =>
      JSON.stringify({ id, tool, input, mode, trusted, user, project, local, root, home: join(temp.path, "home") }),
    ),
  ];
  const { answers, exitCode } = await check(lines);
  const wanted = [...commands, ...rules].map((entry) => `${entry.id} ${entry.expect}`);
  expect(answers.map(({ id, decision }) => `${id} ${decision}`)).toEqual(wanted);
  expect(exitCode).toBe(0);
});
