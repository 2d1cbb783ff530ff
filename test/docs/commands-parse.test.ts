import { readFile } from "node:fs/promises";
import { expect, test, vi } from "vitest";
import { runCommandLine } from "../../src/interaction/commands/cli.ts";
import { teamCommand } from "../../src/interaction/commands/team.ts";
import { UserError } from "../../src/protocol/errors.ts";
import { argumentsOf, type DocCommand, docCommands, docPages, spelledOut } from "../support/doc-commands.ts";

// The command line is the real one; what its commands do is left out.
vi.mock("../../src/interaction/surroundings-here.ts", () => ({ surroundingsHere: async () => ({}) }));
vi.mock("../../src/runtime/team-resume.ts", () => ({ resumeTeam: async () => ({}) }));
vi.mock("../../src/interaction/commands/acp.ts");
vi.mock("../../src/interaction/commands/agents.ts");
vi.mock("../../src/interaction/commands/config.ts");
vi.mock("../../src/interaction/commands/debug-stream.ts");
vi.mock("../../src/interaction/commands/demo.ts");
vi.mock("../../src/interaction/commands/doctor.ts");
vi.mock("../../src/interaction/commands/hooks.ts");
vi.mock("../../src/interaction/commands/mcp.ts");
vi.mock("../../src/interaction/commands/mcp-edit.ts");
vi.mock("../../src/interaction/commands/mcp-test.ts");
vi.mock("../../src/interaction/commands/memory.ts");
vi.mock("../../src/interaction/commands/permissions.ts");
vi.mock("../../src/interaction/commands/permissions-log.ts");
vi.mock("../../src/interaction/commands/sessions.ts");
vi.mock("../../src/interaction/commands/skills.ts");
vi.mock("../../src/interaction/commands/team.ts");
vi.mock("../../src/interaction/commands/team-act.ts");
vi.mock("../../src/interaction/commands/team-attach.ts");
vi.mock("../../src/interaction/commands/team-look.ts");
vi.mock("../../src/interaction/commands/team-watch.ts");
vi.mock("../../src/interaction/commands/worker.ts");

/** A mention in the text may leave out the words behind it (`roocode team resume`), no option that is needed. */
const LEFT_OUT = /Not enough non-option arguments|Say what to do|Name one of its commands/;
/** A wrong word for a command is read as a prompt or a goal; a real one has blanks, or is one of these. */
const PROMPTS = ["prompt", "question", "goal", "…", "/skills"];

/** What is wrong with a command line, if anything. */
async function faultOf(argv: readonly string[], isCode: boolean): Promise<string | undefined> {
  let prompt: string | undefined;
  vi.mocked(teamCommand).mockImplementation(async ({ goal }) => {
    prompt = goal === "" ? undefined : goal;
    return 0;
  });
  const written = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    await runCommandLine(argv, "0.0.0", async (args) => {
      prompt = args.prompt;
      return 0;
    });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return !isCode && LEFT_OUT.test(error.message) ? undefined : error.message;
  } finally {
    written.mockRestore();
  }
  const isWhole = prompt === undefined || PROMPTS.includes(prompt) || (prompt.includes(" ") && argv.includes(prompt));
  return isWhole ? undefined : `There is no command "${prompt}".`;
}

async function faultsOf({ page, line, text, isCode }: DocCommand): Promise<string[]> {
  // What stands for any value fits no choice.
  const lines = isCode ? [text] : spelledOut(text.replace(/ --[a-z-]+ …$/, ""));
  const argvs = await Promise.all(lines.map(argumentsOf));
  const faults: string[] = [];
  for (const argv of argvs) {
    const fault = argv && (await faultOf(argv, isCode));
    if (fault) faults.push(`${page}:${line}: ${text}: ${fault}`);
  }
  return faults;
}

test.each(await docPages())("each roocode command in %s has a command and options that exist", async (page) => {
  const faults: string[] = [];
  for (const command of await docCommands(page)) faults.push(...(await faultsOf(command)));
  expect(faults).toEqual([]);
});

test.each([
  ["roocode team list --jsn", true, /jsn/],
  ["roocode -p --output-format yaml", true, /yaml/],
  ["roocode tema list", true, /no command/],
  ["roocode team statsu NAME", false, /Did you mean/],
  ["roocode team status", true, /Not enough/],
  ["roocode team stop|clean NAME [--force]", false, /force/],
])("%s is a fault", async (text, isCode, words) => {
  const [fault] = await faultsOf({ page: "a page", line: 1, text, isCode });
  expect(fault).toMatch(words);
});

test("the Chinese README shows the same commands and leads to the same pages as the English one", async () => {
  const commands = async (page: string) => (await docCommands(page)).map(({ text }) => text.replace(/\s+# .*/, ""));
  expect(await commands("README.zh-CN.md")).toEqual(await commands("README.md"));
  const links = async (page: string) =>
    [...(await readFile(new URL(`../../${page}`, import.meta.url), "utf8")).matchAll(/\]\(([^)]+)\)/g)].map(([, to]) => to);
  expect((await links("README.zh-CN.md")).slice(1).sort()).toEqual((await links("README.md")).slice(1).sort());
  expect([(await links("README.md"))[0], (await links("README.zh-CN.md"))[0]]).toEqual(["README.zh-CN.md", "README.md"]);
});
