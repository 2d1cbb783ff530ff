import { execFileSync } from "node:child_process";
import { lstat, mkdir, readFile, readlink, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { Answer } from "../../src/interaction/demo/conversation.ts";
import { addLocalRules } from "../../src/safety/rule-files.ts";
import { fakeModel } from "../support/fake-model.ts";
import { type TestHome, testHome } from "../support/home.ts";
import { tempFolder } from "../support/temp.ts";

const FILES = { "f.txt": "one\n" };
const ANSWER = { text: "Done." };

async function settings(home: TestHome, text: string): Promise<void> {
  await mkdir(home.data, { recursive: true });
  await writeFile(join(home.data, "config.yaml"), text);
}

test("O-01: a bad allow rule, and a rule that is no text, void no other; they are named with file and line, and the deny holds", async () => {
  await using model = await fakeModel(({ steps }): Answer => {
    const last = steps.at(-1);
    return last?.type === "call" ? { text: last.result } : { calls: [{ name: "Bash", input: { command: "git push origin main" } }] };
  });
  await using home = await testHome(FILES);
  await settings(home, "permissions:\n  allow:\n    - Bash(mkdir*\n    - 7\n    - Bash(git *)\n  deny:\n    - Bash(git push *)\n");
  const run = await home.roocode(["-p", "x", "--output-format", "json", "--permission-mode", "bypassPermissions"], {
    env: model.env("anthropic"),
  });
  expect(JSON.parse(run.stdout).permission_denials).toEqual([expect.objectContaining({ tool_name: "Bash" })]);
  expect(run.stderr).toMatch(/config\.yaml:3: .*Bash\(mkdir\*/);
  expect(run.stderr).toMatch(/config\.yaml:4: .*not a text/);
});

test.each([
  ["an unknown key", "model: claude-opus-5-5\npermisions: {}\n", /config\.yaml:2: .*permisions/],
  ["a wrong type", "\nteam: {teammates: ten}\n", /config\.yaml:2: team\.teammates/],
  ["a tab for indentation", "team:\n\tteammates: 3\n", /config\.yaml:2: .*ignored/],
  ["a duplicate key", "model: a\nmodel: b\n", /config\.yaml:\d: .*unique.*ignored/],
  ["nothing", "", undefined],
  ["only a comment", "# later\n", undefined],
  ["JSON with a trailing comma", '{"model": "claude-opus-5-5",}\n', undefined],
] as const)("O-03: settings with %s start, and what is wrong is named with file and line", async (_, text, words) => {
  await using model = await fakeModel(() => ANSWER);
  await using home = await testHome(FILES);
  await settings(home, text);
  const run = await home.roocode(["-p", "x"], { env: model.env("anthropic") });
  expect(run).toMatchObject({ code: 0, stdout: "Done.\n" });
  if (words) expect(run.stderr).toMatch(words);
  else expect(run.stderr).toBe("");
});

test("O-04: an allow for one program lets no second one ride along", async () => {
  const riders = [
    "git log; touch pwn",
    "git log && touch pwn",
    "git log | sh",
    "git log\ntouch pwn",
    "git log $(touch pwn)",
    "git log `touch pwn`",
    "git log > pwn",
    "git log & touch pwn",
    "git log <(touch pwn)",
  ];
  await using home = await testHome(FILES);
  const call = (command: string) => JSON.stringify({ tool: "Bash", input: { command }, user: ["allow Bash(git *)"] });
  const run = await home.roocode(["permissions", "check"], { input: ["git log", ...riders].map(call).join("\n") });
  const [plain, ...others] = run.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).decision);
  expect(plain).toBe("allow");
  expect(others).toHaveLength(riders.length);
  expect(others).not.toContain("allow");
});

test("O-06: any deny wins from whichever file, else the most local rule that exists decides", async () => {
  await using home = await testHome(FILES);
  const effects = ["allow", "deny", undefined] as const;
  const all = effects.flatMap((user) => effects.flatMap((project) => effects.map((local) => ({ user, project, local }))));
  const input = all.map((one) => {
    const rules = Object.entries(one).map(([level, effect]) => [level, effect ? [`${effect} Bash(make x)`] : []]);
    return JSON.stringify({ tool: "Bash", input: { command: "make x" }, trusted: true, mode: "default", ...Object.fromEntries(rules) });
  });
  const run = await home.roocode(["permissions", "check"], { input: input.join("\n") });
  const found = run.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).decision);
  const right = all.map(({ user, project, local }) => {
    if ([user, project, local].includes("deny")) return "deny";
    return local ?? project ?? user ?? "ask";
  });
  expect(found).toEqual(right);
});

test.each([
  ["a FIFO", (path: string) => execFileSync("mkfifo", [path]), /is no file/],
  ["a folder", (path: string) => mkdir(path), /is no file/],
  ["a dangling link", (path: string) => symlink("nowhere.yaml", path), /leads nowhere/],
] as const)("O-08: %s in place of the settings is a warning, and stays what it is", async (_, make, words) => {
  await using model = await fakeModel(() => ANSWER);
  await using home = await testHome(FILES);
  const paths = [
    join(home.data, "config.yaml"),
    join(home.repo, ".roocode", "config.yaml"),
    join(home.repo, ".roocode", "config.local.yaml"),
  ];
  for (const path of paths) {
    await mkdir(dirname(path), { recursive: true });
    await make(path);
  }
  const before = await Promise.all(paths.map(async (path) => (await lstat(path)).mode));
  const run = await home.roocode(["-p", "x"], { env: model.env("anthropic"), timeoutMs: 10_000 });
  expect(run).toMatchObject({ code: 0, stdout: "Done.\n" });
  for (const path of paths) expect(run.stderr).toContain(path);
  expect(run.stderr).toMatch(words);
  expect(await Promise.all(paths.map(async (path) => (await lstat(path)).mode))).toEqual(before);
});

test("O-08: settings that are a relative link count, and writing through the link keeps it", async () => {
  await using folder = await tempFolder();
  const link = join(folder.path, ".roocode", "config.local.yaml");
  const file = join(folder.path, "real.yaml");
  await mkdir(dirname(link));
  await writeFile(file, "# mine\nmodel: haiku\n");
  await symlink("../real.yaml", link);
  await addLocalRules(link, ["Bash(npm test)"]);
  expect(await readlink(link)).toBe("../real.yaml");
  expect(await readFile(file, "utf8")).toMatch(/# mine\nmodel: haiku\n[\s\S]*Bash\(npm test\)/);
});

test("O-08: null entries of the trust store spoil no other, and stay out of the way of a new one", async () => {
  await using home = await testHome(FILES);
  await using model = await fakeModel(() => ANSWER);
  await mkdir(join(home.repo, ".roocode"));
  await writeFile(join(home.repo, ".roocode", "config.yaml"), "permissions: {allow: [Bash(make)]}\n");
  const env = model.env("anthropic");
  await home.roocode(["-p", "x", "--trust"], { env });
  const store = join(home.data, "trust.json");
  await writeFile(store, JSON.stringify({ version: 1, folders: { ...JSON.parse(await readFile(store, "utf8")).folders, "/gone": null } }));
  const run = await home.roocode(["-p", "x"], { env });
  expect(run).toMatchObject({ code: 0, stderr: "" });
});

// Nobody can make a folder there, root neither.
test.skipIf(process.platform !== "linux")("O-08: a home that can't be written to is a warning, and the run goes on", async () => {
  await using home = await testHome(FILES);
  await using model = await fakeModel(({ rounds }) =>
    rounds === 0 ? { calls: [{ name: "ReadFile", input: { path: "f.txt" } }] } : ANSWER,
  );
  const env = { ...model.env("anthropic"), ROOCODE_HOME: "/sys/roocode" };
  const run = await home.roocode(["-p", "x"], { env, timeoutMs: 10_000 });
  expect(run).toMatchObject({ code: 0, stdout: "Done.\n" });
  expect(run.stderr).toMatch(/can't be (written|saved) to \/sys\/roocode/);
});
