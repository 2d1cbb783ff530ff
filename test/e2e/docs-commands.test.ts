import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Answer, Conversation } from "../../src/interaction/demo/conversation.ts";
import { readPlan } from "../../src/interaction/demo/plan.ts";
import { scriptedTurn } from "../../src/interaction/demo/scripted-model.ts";
import { argumentsOf, docCommands, docPages, spelledOut } from "../support/doc-commands.ts";
import { fakeModel } from "../support/fake-model.ts";
import { type Finished, type TestHome, testHome } from "../support/home.ts";
import { TWO_FILES } from "../support/two-files.ts";

/** Beginnings of lines that are not run here, and why. test/docs/commands-parse.test.ts reads those of roocode all the same. */
const NOT_RUN: Readonly<Record<string, string>> = {
  "./scripts/demo": "installs from the registry; test/e2e/team.test.ts runs roocode demo",
  "./scripts/test": "would run this test",
  "npm link": "changes the machine",
  "export ANTHROPIC_API_KEY=…": "the reader's own key",
  "acpx ": "test/e2e/acpx.test.ts drives roocode by it",
  "roocode mcp test search": "starts a program from the registry; test/e2e/mcp.test.ts tests a server of its own",
  "roocode team watch NAME --web": "the team has to run: test/e2e/team-page.test.ts",
  "roocode team send": "the team has to run: test/e2e/team-mail.test.ts",
  "roocode team attach": "the team has to run: test/e2e/team-look.test.ts",
  "roocode team stop": "the team has to run: test/e2e/team-doctor.test.ts",
  "roocode worker": "stays until its team ends: test/e2e/hooks.test.ts",
  "roocode team resume": "the team's lead has to be gone: test/e2e/kills.test.ts",
  "nats-server": "a server that stays: test/e2e/team-bus.test.ts starts one",
  'roocode team "refactor the auth module" --bus': "needs that server: test/e2e/team-bus.test.ts",
  "roocode team --plan": "the scripted members make no plans: test/e2e/team-plans.test.ts",
};
/** What a reader would type, or pipe in. */
const INPUT: Readonly<Record<string, string>> = {
  roocode: "/exit\n",
  "roocode --mcp-config": "/exit\n",
  "roocode -p --input-format stream-json": `${JSON.stringify({ type: "user", message: { role: "user", content: "hello" } })}\n`,
  "roocode permissions check <": `${JSON.stringify({ tool: "Bash", input: { command: "ls" } })}\n`,
};
/** Exit codes that are right and not 0: that team's work is not merged. */
const CODES: Readonly<Record<string, number>> = { "roocode team clean NAME": 3 };

/** What has to be there before the lines of a page, as a reader of it would have it. */
const BEFORE: Readonly<Record<string, (home: TestHome, run: (args: readonly string[]) => Promise<Finished>) => Promise<unknown>>> = {
  "docs/mcp.md": (home) => writeFile(join(home.repo, "servers.json"), `{"mcpServers": {}}`),
  "docs/permissions.md": (_, run) => run(["-p", "make a file"]),
  "docs/memory.md": async ({ data }) => {
    await mkdir(join(data, "memory"), { recursive: true });
    await writeFile(
      join(data, "memory", "user-name.md"),
      "---\nname: NAME\ndescription: knows Go\ntype: user\ncreated: 2026-01-01\n---\n\nKnows Go well.\n",
    );
  },
  "docs/teams.md": (_, run) => run(["team", "-p", "write two files", "--name", "NAME", "--no-merge"]),
};

const plan = readPlan(TWO_FILES);

/** A call that is denied without a person, then words; of a team the plan. */
function answer(conversation: Conversation): Answer {
  if (conversation.role.type !== "main") return scriptedTurn(plan, conversation);
  return conversation.rounds === 0 ? { calls: [{ name: "Bash", input: { command: "touch made.txt" } }] } : { text: "Done." };
}

function under<Value>(table: Readonly<Record<string, Value>>, line: string): Value | undefined {
  return Object.entries(table).find(([beginning]) =>
    beginning === "roocode" ? /^roocode\s*(#|$)/.test(line) : line.startsWith(beginning),
  )?.[1];
}

async function pagesWithCode(): Promise<string[]> {
  const pages = await docPages();
  const commands = await Promise.all(pages.map(docCommands));
  return pages.filter((_, index) => commands[index]?.some(({ isCode }) => isCode));
}

test.each(await pagesWithCode())(
  "the commands of %s do what they say",
  async (page) => {
    await using home = await testHome();
    await using model = await fakeModel(answer);
    const run = (args: readonly string[], options = {}) => home.roocode(args, { env: model.env("anthropic"), ...options });
    await BEFORE[page]?.(home, run);
    const failed: string[] = [];
    for (const { line, text, isCode } of await docCommands(page)) {
      if (!isCode || under(NOT_RUN, text) !== undefined) continue;
      const argv = await argumentsOf(text);
      expect(argv, `${page}:${line}: ${text}: neither runs roocode nor stands in NOT_RUN`).toBeDefined();
      const expected = under(CODES, text) ?? 0;
      const { code, stdout, stderr } = await run(argv ?? [], { input: under(INPUT, text) ?? "" });
      if (code !== expected) failed.push(`${page}:${line}: ${text}: exit code ${code}\n${stdout}\n${stderr}`);
    }
    expect(failed).toEqual([]);
  },
  240_000,
);

/** Of the commands in the text those that need nothing and only look. */
const LOOKS =
  /^roocode (?:config|doctor|completion \w+|debug stream --protocol \w+|(?:skills|commands|agents|hooks|mcp|sessions|memory|team) (?:list|check)|permissions (?:log|verify)|import claude --dry-run)(?: --json| --check)*$/;

test("commands in the text that only look do so", async () => {
  await using home = await testHome();
  await using model = await fakeModel(answer);
  const named = (await Promise.all((await docPages()).map(docCommands))).flat().filter(({ isCode }) => !isCode);
  const commands = [...new Set(named.flatMap(({ text }) => spelledOut(text)))].filter((text) => LOOKS.test(text));
  expect(commands.length).toBeGreaterThan(15);
  const failed: string[] = [];
  for (const text of commands) {
    const { code, stderr } = await home.roocode(text.split(" ").slice(1), { env: model.env("anthropic") });
    if (code !== 0) failed.push(`${text}: exit code ${code}\n${stderr}`);
  }
  expect(failed).toEqual([]);
});

test("what is said not to be run is there", async () => {
  const commands = (await Promise.all((await docPages()).map(docCommands))).flat().filter(({ isCode }) => isCode);
  for (const beginning of [...Object.keys(NOT_RUN), ...Object.keys(CODES)])
    expect(
      commands.some(({ text }) => text.startsWith(beginning)),
      beginning,
    ).toBe(true);
});
