import { execFile } from "node:child_process";
import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { exists } from "../../src/platform/files.ts";
import { git } from "../../src/platform/git.ts";
import { type TestHome, testHome } from "../support/home.ts";

const FILES = { "f.txt": "one\n" };

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

async function listed(home: TestHome, ...args: string[]) {
  const run = await home.roocode(["hooks", "list", "--json", ...args]);
  return { code: run.code, ...JSON.parse(run.stdout) };
}

test("hooks list shows the three levels in their order, what is off, and what is wrong with its line", async () => {
  await using home = await testHome(FILES);
  const hook = (name: string) => `hooks:\n  - {event: stop, action: {type: command, command: ${name}}}\n`;
  await put(join(home.data, "config.yaml"), hook("mine"));
  await put(join(home.repo, ".roocode", "config.yaml"), hook("theirs"));
  await put(join(home.repo, ".roocode", "config.local.yaml"), `${hook("here")}  - {event: nope, action: {type: command, command: x}}\n`);
  const before = await listed(home);
  expect(before.hooks.map((one: { what: string; state: string }) => `${one.what} ${one.state}`)).toEqual([
    "mine on",
    "here on",
    "theirs off",
  ]);
  expect(before.problems[0]).toMatch(/config\.local\.yaml:3: hooks\[1\]\.event: there is no event "nope"/);
  expect(before.code).toBe(1);
  const after = await listed(home, "--trust");
  expect(after.hooks.map((one: { what: string }) => one.what)).toEqual(["mine", "theirs", "here"]);
});

test("hooks of a local file that came with the repository are the project's: off until they are accepted", async () => {
  await using home = await testHome(FILES);
  const local = join(home.repo, ".roocode", "config.local.yaml");
  await put(local, "hooks:\n  - {event: stop, action: {type: command, command: x}}\n");
  expect((await listed(home)).hooks).toMatchObject([{ level: "local", state: "on" }]);
  await git(home.repo, ["add", "--force", local]);
  await git(home.repo, ["commit", "--quiet", "--message", "ours"]);
  expect((await listed(home)).hooks).toMatchObject([{ level: "local", state: "off" }]);
  expect((await listed(home, "--trust")).hooks).toMatchObject([{ level: "local", state: "on" }]);
});

test("hooks test fires one event and says what came of it; --dry-run runs nothing", async () => {
  await using home = await testHome(FILES);
  await put(
    join(home.data, "config.yaml"),
    `hooks:\n  - {event: pre_tool_use, if: tool == "Bash", action: {type: command, command: 'touch "$HOME/ran"; echo no >&2; exit 2'}}\n`,
  );
  const args = ["hooks", "test", "PreToolUse", "--tool", "Bash", "--input", '{"command": "ls"}'];
  const dry = await home.roocode([...args, "--dry-run", "--json"]);
  expect(JSON.parse(dry.stdout)).toMatchObject({ event: "pre_tool_use", meant: [{ action: "command" }] });
  expect(await exists(join(home.home, "ran"))).toBe(false);
  const run = await home.roocode(args);
  expect(run.code).toBe(1);
  expect(run.stdout).toMatch(/Ran:[\s\S]*Refused: the call is denied\. Reason: no/);
  const other = await home.roocode(["hooks", "test", "pre_tool_use"]);
  expect(other).toMatchObject({ code: 0, stdout: "No hook is meant by this pre_tool_use.\n" });
  expect((await home.roocode(["hooks", "test", "nope"])).code).toBe(2);
});

test("import claude takes hooks and rules over, keeps what is there, says what it could not, and adds nothing twice", async () => {
  await using home = await testHome(FILES);
  const config = join(home.repo, ".roocode", "config.yaml");
  await put(config, "# ours\nmodel: opus # the big one\npermissions:\n  allow:\n    - Bash(ls *)\n");
  const hook = (more: object) => ({ hooks: [{ type: "command", command: "lint", timeout: 5 }], ...more });
  await put(
    join(home.repo, ".claude", "settings.json"),
    JSON.stringify({
      model: "x",
      hooks: {
        PreToolUse: [hook({ matcher: "Write" }), hook({ matcher: "mcp__git__.*" }), hook({ matcher: "Nope" })],
        PostToolUse: [hook({ matcher: "Edit|MultiEdit|Write" }), hook({ matcher: "" })],
        Stop: [hook({})],
        SessionStart: [hook({ matcher: "startup" }), hook({ matcher: "clear" })],
        CwdChanged: [hook({})],
      },
      permissions: { allow: ["Bash(npm run test:*)", "Read(~/docs/**)", "WebSearch"], deny: ["Write(secrets/**)"], defaultMode: "plan" },
    }),
  );
  await put(join(home.repo, ".claude", "settings.local.json"), JSON.stringify({ permissions: { allow: ["Bash(make:*)"] } }));
  const dry = await home.roocode(["import", "claude", "--dry-run", "--json"]);
  expect(JSON.parse(dry.stdout).files.map((file: { added: number }) => file.added)).toEqual([10, 1]);
  expect(await readFile(config, "utf8")).toMatch(/^# ours\nmodel: opus # the big one\npermissions:\n {2}allow:\n {4}- Bash\(ls \*\)\n$/);
  expect(await exists(join(home.repo, ".roocode", "config.local.yaml"))).toBe(false);

  const run = await home.roocode(["import", "claude"]);
  expect(run.code).toBe(0);
  for (const left of [
    "hooks.CwdChanged",
    '"Nope" names no tool',
    'matcher "clear"',
    "WebSearch",
    "permissions.defaultMode",
    "model: it is not",
  ])
    expect(run.stdout).toContain(left);
  const text = await readFile(config, "utf8");
  expect(text).toMatch(/^# ours\nmodel: opus # the big one\n/);
  const settings = parse(text);
  expect(settings.permissions).toEqual({
    allow: ["Bash(ls *)", "Bash(npm run test:*)", "Read(~/docs/**)"],
    deny: ["EditFile(secrets/**)", "WriteFile(secrets/**)"],
  });
  expect(settings.hooks.map(({ event, if: when }: { event: string; if?: string }) => [event, when])).toEqual([
    ["pre_tool_use", 'tool == "EditFile" || tool == "WriteFile"'],
    ["pre_tool_use", "tool =~ /^(?:mcp__git__.*)$/"],
    ["post_tool_use", 'tool == "EditFile" || tool == "WriteFile"'],
    ["post_tool_use", undefined],
    ["stop", undefined],
    ["session_start", 'source == "new"'],
  ]);
  expect((await listed(home)).problems).toEqual([]);
  const again = await home.roocode(["import", "claude", "--json"]);
  expect(JSON.parse(again.stdout).files.map((file: { added: number }) => file.added)).toEqual([0, 0]);
  expect(await readFile(config, "utf8")).toBe(text);
});

test("hooks test tells of fields of the wrong kind, and a condition that finds no end is no fault of the program", async () => {
  await using home = await testHome(FILES);
  await put(
    join(home.data, "config.yaml"),
    "hooks:\n  - {event: pre_tool_use, if: 'input.command =~ /^(a+)+$/', action: {type: command, command: 'true'}}\n",
  );
  const long = JSON.stringify({ command: `${"a".repeat(60)}!` });
  const dry = await home.roocode(["hooks", "test", "pre_tool_use", "--tool", "Bash", "--input", long, "--dry-run", "--json"]);
  expect(JSON.parse(dry.stdout)).toMatchObject({ meant: [{ action: "command" }] });
  const odd = await home.roocode(["hooks", "test", "task_created", "--fields", '{"task": 5, "event": "stop"}']);
  expect(odd).toMatchObject({ code: 2, stderr: expect.stringContaining('"task" of a task_created is a object, not 5') });
});

test("import claude makes nothing the person's own that came with the repository, and follows no link out of it", async () => {
  await using home = await testHome({ ".claude/settings.local.json": JSON.stringify({ permissions: { allow: ["Bash"] } }) });
  await home.roocode(["import", "claude"]);
  expect(await exists(join(home.repo, ".roocode", "config.local.yaml"))).toBe(false);
  expect(await readFile(join(home.repo, ".roocode", "config.yaml"), "utf8")).toContain("Bash");

  await using other = await testHome({ ".claude/settings.json": JSON.stringify({ permissions: { allow: ["Bash"] } }) });
  await put(join(other.data, "config.yaml"), "model: opus\n");
  await mkdir(join(other.repo, ".roocode"));
  await symlink(join(other.data, "config.yaml"), join(other.repo, ".roocode", "config.yaml"));
  const run = await other.roocode(["import", "claude"]);
  expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining("is a link that leads out of") });
  expect(await readFile(join(other.data, "config.yaml"), "utf8")).toBe("model: opus\n");
});

test("import claude says what is wrong with settings that are no file, no JSON or no map, and changes nothing", async () => {
  await using home = await testHome(FILES);
  const file = join(home.repo, ".claude", "settings.json");
  for (const text of ["{", "[]", "\u0000", "null"]) {
    await put(file, text);
    const run = await home.roocode(["import", "claude"]);
    expect(run, text).toMatchObject({ code: 2, stdout: "" });
    expect(run.stderr).toContain("settings.json");
  }
  await rm(file);
  await promisify(execFile)("mkfifo", [file]);
  expect(await home.roocode(["import", "claude"])).toMatchObject({ code: 2, stderr: expect.stringContaining("settings.json") });
  expect(await exists(join(home.repo, ".roocode", "config.yaml"))).toBe(false);
});

test("hooks test names those that are off because the folder is not trusted", async () => {
  await using home = await testHome(FILES);
  await put(join(home.repo, ".roocode", "config.yaml"), "hooks:\n  - {event: stop, action: {type: command, command: theirs}}\n");
  const run = await home.roocode(["hooks", "test", "stop", "--dry-run"]);
  expect(run.stdout).toMatch(
    /No hook is meant[\s\S]*off until you accept what this folder brings \(--trust\):\n {2}stop: command "theirs"/,
  );
  expect(JSON.parse((await home.roocode(["hooks", "test", "stop", "--json"])).stdout)).toMatchObject({
    meant: [],
    off: [{ what: "theirs" }],
  });
});
