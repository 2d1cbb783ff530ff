import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { decide } from "../../src/safety/decide.ts";
import { DISK } from "../../src/safety/path-sandbox.ts";
import { ruleSet } from "../../src/safety/rules.ts";
import { analyze } from "../../src/safety/shell.ts";

const place = { cwd: "/home/dev/proj", home: "/home/dev" };
const commands: string[] = readFileSync("test/fixtures/security/dangerous.jsonl", "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line).cmd);

function decideBash(command: string, rules: readonly string[] = [], mode: "default" | "bypassPermissions" = "default") {
  return decide(
    { agent: "test", tool: "Bash", access: { kind: "command", subject: command } },
    {
      ground: { root: place.cwd, cwd: place.cwd, home: place.home, dataFolder: `${place.home}/.roocode`, extraRoots: [], files: DISK },
      mode,
      rules: ruleSet({ local: rules }),
      isTrusted: true,
      gitIsSafe: () => true,
    },
  );
}

const words = (command: string) => analyze(command, place).parts.map((part) => part.words.map((word) => word.text));

test("wrappers, scripts and substitutions are opened, each into parts of its own", () => {
  expect(words("timeout 5 sudo -u x ls")).toEqual([["timeout", "5", "sudo", "-u", "x", "ls"], ["sudo", "-u", "x", "ls"], ["ls"]]);
  expect(words("bash -c 'a; b'")).toEqual([["bash", "-c", "a; b"], ["a"], ["b"]]);
  expect(words('echo "$(a | b)"')).toEqual([["a"], ["b"], ["echo", "$(a | b)"]]);
});

test("a constant, a brace and a tilde are worked out, and what is unknown stays as it is written", () => {
  expect(words("d=~/x; rm {$d,$HOME}/a $unknown")).toEqual([[], ["rm", "/home/dev/x/a", "/home/dev/a", "$unknown"]]);
});

test("a folder that may have been entered leaves both possible", () => {
  const last = analyze("test -d a && cd a/b; rm x", place).parts.at(-1);
  expect(last?.cwds).toEqual(["/home/dev/proj", "/home/dev/proj/a/b"]);
});

test("a variable that may have changed is not taken for known", async () => {
  expect(await decideBash("d=build; [ -n x ] && d=/; rm -rf $d")).toMatchObject({ decision: "ask", sticky: true });
});

test("no mutation of a command makes the reading or the decision stumble", async () => {
  const mutation = fc.record({
    command: fc.constantFrom(...commands),
    at: fc.nat(200),
    drop: fc.nat(6),
    put: fc.oneof(
      fc.string({ maxLength: 4 }),
      fc.constantFrom("$(", "`", "'", '"', "{", "<<", "\\", "&&", "((", "${", "|", "\n", ";", ")", "}", "[[", "function ", "~"),
    ),
  });
  await fc.assert(
    fc.asyncProperty(mutation, async ({ command, at, drop, put }) => {
      const mutant = command.slice(0, at % (command.length + 1)) + put + command.slice((at % (command.length + 1)) + drop);
      const decision = await decideBash(mutant, ["deny Bash(npm publish *)", "allow Bash(git *)"]);
      // What a thrown error is turned into.
      expect(decision.reason).not.toMatch(/could not be (checked|analysed)/);
      expect(analyze(mutant, place).problems.join()).not.toContain("could not be analysed");
    }),
    { numRuns: 600 },
  );
});

test("a line over the limits is a sticky ask in every mode, and what it hides is still found", async () => {
  const padding = "true; ".repeat(1_200);
  expect(await decideBash(`${padding}ls`, ["allow Bash"], "bypassPermissions")).toMatchObject({ decision: "ask", sticky: true });
  expect(await decideBash(`${padding}rm -rf /`, ["allow Bash"], "bypassPermissions")).toMatchObject({ decision: "deny", layer: "danger" });
  expect(await decideBash(`${padding}npm publish`, ["deny Bash(npm publish *)"], "bypassPermissions")).toMatchObject({
    decision: "deny",
    layer: "rule",
  });
  expect(await decideBash(`echo ${"x".repeat(70_000)}`, [], "bypassPermissions")).toMatchObject({ decision: "ask", sticky: true });
});

test("a nesting that no parser follows is a sticky ask, and the denies are tried on its text", async () => {
  const deep = `${"$(echo ".repeat(2_000)}x${")".repeat(2_000)}`;
  expect(await decideBash(`echo ${deep}`, [], "bypassPermissions")).toMatchObject({ decision: "ask", sticky: true });
  expect(await decideBash(`echo ${deep}; npm publish`, ["deny Bash(npm publish *)"])).toMatchObject({ decision: "deny" });
});

test("characters that hide text are shown in the reason and always ask", async () => {
  const decision = await decideBash("gi\u200bt status", ["allow Bash(*)"]);
  expect(decision).toMatchObject({ decision: "ask" });
  expect(decision.parts?.join()).toContain("\\u{200b}");
});

test("what reads in a way that a person would not expect is no free reading", async () => {
  const commands = [
    "find . -name .env | xargs cat",
    "[[ $x -eq 0 ]] && ls",
    "git show HEAD:.env",
    "git -p log",
    "ls() { rm x; }; ls",
    "uniq a b",
    "cat ~/.bashrc",
    "cd /tmp; ls",
    "./ls",
    "enable -n ls",
    "cat <(npm x)",
    "x=$(npm x)",
  ];
  for (const command of commands) expect(`${command}: ${(await decideBash(command)).decision}`).toBe(`${command}: ask`);
});
