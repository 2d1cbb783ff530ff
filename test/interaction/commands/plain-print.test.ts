import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { runCommandLine } from "../../../src/interaction/commands/cli.ts";
import { readPlainPrint } from "../../../src/interaction/commands/plain-print.ts";
import type { TalkArguments } from "../../../src/interaction/commands/talk.ts";

const SWITCHES = ["-p", "--print", "-c", "--continue", "--trust", "--debug", "--verbose", "--no-print", "-x", "-pc", "--", "-"];
const VALUES: readonly (readonly string[])[] = [
  ["--output-format", "json"],
  ["--output-format", "xml"],
  ["--output-format=json"],
  ["--max-turns", "7"],
  ["--max-turns", "0x10"],
  ["--max-turns", "1e3"],
  ["--max-turns"],
  ["--model", "ollama/qwen3"],
  ["--model", "12"],
  ["--permission-mode", "plan"],
  ["--permission-mode", "all"],
  ["--resume", "abc"],
  ["--add-dir", "/tmp"],
  ["--max-cost", "5"],
  ["--max-cost", "0.50"],
  ["--max-cost", "0"],
  ["--max-cost", "five"],
];
const WORDS = [
  "fix the bug",
  "hello",
  "07",
  "1e5",
  "0x1F",
  "true",
  "false",
  "team",
  "worker",
  "demo",
  "'quoted'",
  '"x"',
  "",
  " ",
  "a=b",
  "日本",
  "$HOME",
];

const part = fc.oneof(
  fc.constantFrom(...SWITCHES).map((word) => [word]),
  fc.constantFrom(...VALUES),
  fc.constantFrom(...WORDS).map((word) => [word]),
  fc.string({ maxLength: 6 }).map((word) => [word]),
);
const commandLine = fc.array(part, { maxLength: 5 }).map((parts) => ["-p", ...parts.flat()]);

test("what is read without yargs is what yargs reads", async () => {
  let read = 0;
  await fc.assert(
    fc.asyncProperty(commandLine, async (argv) => {
      const plain = readPlainPrint(argv);
      if (!plain) return;
      read += 1;
      expect({ argv, ...plain }).toEqual({ argv, ...(await withYargs(argv)) });
    }),
    { numRuns: 600 },
  );
  expect(read).toBeGreaterThan(50);
});

test.each([
  [["-p", "what is this"]],
  [["what", "is", "this", "--print"]],
  [["-p", "x", "--output-format", "json", "--max-turns", "3", "--permission-mode", "acceptEdits", "--model", "opus"]],
  [["-c", "-p", "go on"]],
  [["-p"]],
])("%j needs no yargs", async (argv) => {
  expect(readPlainPrint(argv)).toEqual(await withYargs(argv));
});

test.each([
  [["hello"]],
  [["-p", "team", "x"]],
  [["-p", "x", "--add-dir", "/tmp"]],
  [["-p", "x", "-p"]],
  [["-p", "x", "--max-turns", "none"]],
  [["-p", "x", "--help"]],
  [["-p", "true"]],
])("%j is left to yargs", (argv) => {
  expect(readPlainPrint(argv)).toBeUndefined();
});

test("a word that names a command is left to yargs", async () => {
  const said = vi.spyOn(console, "log").mockImplementation(() => undefined);
  await runCommandLine(["--help"], "0.0.0");
  const help = said.mock.calls.flat().join("\n");
  said.mockRestore();
  const commands = [...help.matchAll(/^ {2}roocode ([a-z]+)/gm)].map((match) => match[1] ?? "");
  expect(commands).toContain("team");
  for (const command of commands) expect(readPlainPrint(["-p", command]), command).toBeUndefined();
});

async function withYargs(argv: readonly string[]): Promise<TalkArguments | undefined> {
  let found: TalkArguments | undefined;
  await runCommandLine(argv, "0.0.0", async (args) => {
    found = args;
    return 0;
  });
  return found && { ...found };
}
