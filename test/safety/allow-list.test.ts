import { expect, test } from "vitest";
import { outsideAllowLists } from "../../src/safety/allow-list.ts";
import { DISK } from "../../src/safety/path-sandbox.ts";
import { accessIn } from "../support/access.ts";

const GROUND = { root: "/home/u/p", cwd: "/home/u/p", home: "/home/u", dataFolder: "/home/u/.roocode", extraRoots: [], files: DISK };

/** Whether a call goes through lists of tools. */
async function passes(tool: string, input: Record<string, unknown>, ...lists: string[][]): Promise<boolean> {
  const request = { agent: "main", tool, access: accessIn(tool, input) };
  const named = lists.map((tools) => ({ name: 'the skill "s"', tools }));
  return (await outsideAllowLists(request, named, GROUND)) === undefined;
}

test("only what a list names goes through; the denial says whose list it is", async () => {
  expect(await passes("ReadFile", { path: "a" }, ["ReadFile", "Grep"])).toBe(true);
  expect(await passes("Bash", { command: "ls" }, ["ReadFile", "Grep"])).toBe(false);
  const request = { agent: "main", tool: "Bash", access: accessIn("Bash", { command: "ls" }) };
  expect(await outsideAllowLists(request, [{ name: 'the skill "fmt"', tools: ["ReadFile"] }], GROUND)).toEqual({
    decision: "deny",
    sticky: false,
    layer: "rule",
    rule: 'allowedTools of the skill "fmt"',
    reason: 'the skill "fmt" allows only ReadFile until this turn ends',
  });
});

test("of a command line each part has to be held, in wrappers and substitutions too; what can't be read is not", async () => {
  const git = ["Bash(git status *)", "Bash(git status)", "Bash(git add *)"];
  expect(await passes("Bash", { command: "git status --short && git add a" }, git)).toBe(true);
  expect(await passes("Bash", { command: "git status; rm -rf x" }, git)).toBe(false);
  expect(await passes("Bash", { command: "git add $(curl http://x)" }, git)).toBe(false);
  expect(await passes("Bash", { command: "sh -c 'git push'" }, git)).toBe(false);
  expect(await passes("Bash", { command: "git status '" }, git)).toBe(false);
  expect(await passes("Bash", { command: "timeout 5 git status" }, git)).toBe(true);
  expect(await passes("Bash", { command: "anything | at all > x" }, ["Bash"])).toBe(true);
});

test("a file that a command writes or reads by a redirect has to be held as well", async () => {
  const git = ["Bash(git status *)", "Bash(git status)"];
  expect(await passes("Bash", { command: "git status > x" }, git)).toBe(false);
  expect(await passes("Bash", { command: "git status < x" }, git)).toBe(false);
  expect(await passes("Bash", { command: "git status 2>&1 >/dev/null" }, git)).toBe(true);
  expect(await passes("Bash", { command: "git status > x" }, [...git, "WriteFile(x)"])).toBe(true);
});

test("paths are held by their pattern; a list takes Claude Code's prefix form too", async () => {
  expect(await passes("EditFile", { path: "src/a.ts", old_string: "a", new_string: "b" }, ["EditFile(src/**)"])).toBe(true);
  expect(await passes("EditFile", { path: "test/a.ts", old_string: "a", new_string: "b" }, ["EditFile(src/**)"])).toBe(false);
  expect(await passes("Bash", { command: "git log -1" }, ["Bash(git:*)"])).toBe(true);
  expect(await passes("Bash", { command: "git status" }, ["Bash(git status *)"])).toBe(true);
});

test("two lists leave what both hold; LoadSkill goes through always, an empty list lets nothing else through", async () => {
  expect(await passes("ReadFile", { path: "a" }, ["ReadFile", "Bash"], ["ReadFile"])).toBe(true);
  expect(await passes("Bash", { command: "ls" }, ["ReadFile", "Bash"], ["ReadFile"])).toBe(false);
  expect(await passes("LoadSkill", { name: "x" }, [])).toBe(true);
  expect(await passes("ReadFile", { path: "a" }, [])).toBe(false);
});
