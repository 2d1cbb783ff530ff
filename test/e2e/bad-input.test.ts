import { execFileSync } from "node:child_process";
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { PlanInput } from "../../src/interaction/demo/plan.ts";
import { git, gitText } from "../../src/platform/git.ts";
import { fakeModel } from "../support/fake-model.ts";
import { childEnvironment, type Finished, sampleRepository, type TestHome, testHome } from "../support/home.ts";

const LONG = 60_000;
/** A port of loopback where nobody listens. */
const NOBODY = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "http://127.0.0.1:9" };
const FILES = { "f.txt": "one\n", "sub/s.txt": "s\n" };

const ONE_TASK: PlanInput = {
  teammates: [{ name: "alice", prompt: "Do your task." }],
  tasks: [{ key: "a", subject: "Write a", teammate: "alice", edits: [{ file: "a.txt", content: "a\n" }] }],
};

/** One line that says the cause, and nothing begun. */
async function expectRefused(home: TestHome, run: Finished, words: RegExp, code = 2): Promise<void> {
  expect(run.code, run.stdout + run.stderr).toBe(code);
  expect(run.stderr).toMatch(words);
  expect(run.stderr.trim().split("\n"), run.stderr).toHaveLength(1);
  expect(run.stderr).not.toMatch(/\n\s+at |unexpected error/);
  expect(await readdir(join(home.data, "teams")).catch(() => [])).toEqual([]);
}

async function expectUntouched(repo: string): Promise<void> {
  expect((await gitText(repo, ["worktree", "list"])).split("\n")).toHaveLength(1);
  expect(await gitText(repo, ["for-each-ref", "--format=%(refname)", "refs/heads/worktree-*"])).toBe("");
}

async function conflict(repo: string, command: "merge" | "cherry-pick"): Promise<void> {
  for (const [branch, text] of [
    ["other", "other\n"],
    ["main", "main\n"],
  ] as const) {
    await gitText(repo, branch === "other" ? ["switch", "--quiet", "--create", branch] : ["switch", "--quiet", branch]);
    await writeFile(join(repo, "f.txt"), text);
    await gitText(repo, ["commit", "--quiet", "--all", "--message", branch]);
  }
  expect((await git(repo, [command, "other"])).exitCode).not.toBe(0);
}

test.each([
  ["a merge under way", (repo: string) => conflict(repo, "merge"), /merge is under way.*git merge --abort/],
  ["a cherry-pick under way", (repo: string) => conflict(repo, "cherry-pick"), /cherry-pick is under way.*git cherry-pick --abort/],
  ["a detached HEAD", (repo: string) => gitText(repo, ["switch", "--quiet", "--detach"]), /HEAD is detached.*git switch -c/],
] as const)("%s is refused before anything is made", async (_, prepare, words) => {
  await using home = await testHome(FILES);
  await prepare(home.repo);
  await expectRefused(home, await home.roocode(["team", "-p", "goal"], { env: NOBODY }), words);
  await expectUntouched(home.repo);
});

test("a folder without a repository, one without a commit, and a bare one are refused before any model call (W04, W05)", async () => {
  await using home = await testHome(FILES);
  for (const [name, args, words] of [
    ["plain", undefined, /not a git repository.*git init/],
    ["empty", ["init", "--quiet", "."], /no commit yet.*git commit/],
    ["bare", ["init", "--quiet", "--bare", "."], /bare repository.*Clone/],
  ] as const) {
    const cwd = join(home.home, name);
    await mkdir(cwd);
    if (args) await gitText(cwd, args);
    await expectRefused(home, await home.roocode(["team", "-p", "goal"], { cwd, env: NOBODY }), words);
  }
});

test("no key names the variables; a wrong key and a server that is not there are exit 5 and leave no team", async () => {
  await using home = await testHome(FILES);
  const none = await home.roocode(["team", "-p", "goal"]);
  expect(none.code).toBe(2);
  expect(none.stderr).toMatch(/ANTHROPIC_API_KEY[\s\S]*OPENAI_API_KEY/);
  await using model = await fakeModel(() => ({ status: 401, message: "invalid x-api-key" }));
  const wrong = await home.roocode(["team", "-p", "goal"], { env: model.env("anthropic") });
  expect(wrong).toMatchObject({ code: 5 });
  expect(wrong.stdout).toContain("invalid x-api-key");
  const refused = await home.roocode(["team", "-p", "goal"], { env: NOBODY });
  expect(refused).toMatchObject({ code: 5 });
  expect(refused.stdout).toContain("127.0.0.1:9");
  expect(await readdir(join(home.data, "teams"))).toEqual([]);
  await expectUntouched(home.repo);
});

test.each([
  ["team", "status", "nope"],
  ["team", "stop", "nope"],
  ["team", "clean", "../x"],
  ["team", "send", "nope", "alice", "hi"],
  ["team", "resume", "nope"],
  ["team", "log", "../../x"],
  ["worker", "--team", "nope", "--name", "a"],
])("an unknown team is exit 2 with one line: %s %s %s", async (...args) => {
  await using home = await testHome(FILES);
  await expectRefused(home, await home.roocode(args, { env: NOBODY }), /There is no team/);
});

test.each([
  [["--teammates", "0", "goal"], /1 to 16/],
  [["--teammates", "99", "goal"], /1 to 16/],
  [["--teammates", "abc", "goal"], /1 to 16/],
  [["--moon", "goal"], /Unknown argument: moon/],
  [["--backend", "moon", "goal"], /backend.*moon/],
  [["--name", "a/b", "goal"], /no name for a team/],
  [["-p"], /needs a goal/],
] as const)("%j is exit 2 with one line", async (args, words) => {
  await using home = await testHome(FILES);
  await expectRefused(home, await home.roocode(["team", ...args], { env: NOBODY }), words);
});

test("a data folder that can't be: a file, a path that is not full", async () => {
  await using home = await testHome(FILES);
  for (const [ROOCODE_HOME, words] of [
    [join(home.repo, "f.txt"), /is a file/],
    ["relative", /not a full path/],
  ] as const) {
    await expectRefused(home, await home.roocode(["team", "-p", "goal"], { env: { ...NOBODY, ROOCODE_HOME } }), words);
  }
  expect(await gitText(home.repo, ["status", "--porcelain"])).toBe("");
});

test(
  "a team that a newer program wrote, and one that is damaged, are left as they are and hide no other",
  async () => {
    await using home = await testHome(FILES);
    await using model = await fakeModel({ plan: ONE_TASK });
    const made = await home.roocode(["team", "-p", "--no-merge", "--name", "kept", "goal"], {
      env: model.env("anthropic"),
      timeoutMs: LONG,
    });
    expect(made.code, made.stderr).toBe(0);
    const again = await home.roocode(["team", "-p", "--name", "kept", "goal"], { env: model.env("anthropic") });
    expect(again).toMatchObject({ code: 2, stdout: "" });
    expect(again.stderr).toMatch(/There is a team "kept" already.*resume kept.*clean kept/);
    const roster = join(home.data, "teams", "kept", "roster");
    const newest = (await readdir(roster)).map((name) => Number.parseInt(name, 10)).sort((a, b) => b - a)[0];
    const file = join(roster, `${newest}.json`);
    const whole = await readFile(file, "utf8");
    for (const [text, words] of [
      [whole.replace('"version": 1', '"version": 99'), /written by a newer RooCode/],
      ["{ half", /is damaged/],
    ] as const) {
      await writeFile(file, text);
      for (const args of [
        ["team", "status", "kept"],
        ["team", "clean", "kept"],
        ["team", "send", "kept", "alice", "hi"],
      ]) {
        const run = await home.roocode(args, { env: NOBODY });
        expect(run.code, args.join(" ")).toBe(2);
        expect(run.stderr).toMatch(words);
        expect(run.stderr.trim().split("\n")).toHaveLength(1);
      }
      const list = await home.roocode(["team", "list"]);
      expect(list.code).toBe(0);
      expect(await readFile(file, "utf8")).toBe(text);
    }
    await writeFile(file, whole);
    const unknown = await home.roocode(["team", "send", "kept", "Alicia", "hi"]);
    expect(unknown).toMatchObject({ code: 2 });
    expect(unknown.stderr).toContain("Teammates: alice");
  },
  LONG,
);

test(
  "a folder of a team that never came to be does not hold its name",
  async () => {
    await using home = await testHome(FILES);
    await mkdir(join(home.data, "teams", "half", "roster"), { recursive: true });
    await using model = await fakeModel({ plan: ONE_TASK });
    const run = await home.roocode(["team", "-p", "--name", "half", "goal"], { env: model.env("anthropic"), timeoutMs: LONG });
    expect(run.code, run.stderr).toBe(0);
  },
  LONG,
);

test(
  "odd names and goals are only text: blanks, CJK, $(…), quotes, a dirty tree, a linked worktree's subfolder, settings that do not parse (W06, W11)",
  async () => {
    await using home = await testHome(FILES);
    const primary = join(home.home, "my proj é 重构 #(touch pwned) $(touch pwned)");
    await sampleRepository(primary, FILES);
    const linked = join(home.home, "linked one");
    await gitText(primary, ["worktree", "add", "--quiet", linked, "-b", "feature"]);
    await writeFile(join(linked, "f.txt"), "mine\n");
    await writeFile(join(linked, "untracked.txt"), "mine too\n");
    await mkdir(home.data, { recursive: true });
    await writeFile(join(home.data, "config.yaml"), "a: [1\n b");
    await using model = await fakeModel({ plan: ONE_TASK });
    const goal = `-x it's "x" $(touch pwned) \`touch pwned\` \\d+ #{pid}; 🦘\tend`;
    const main = await gitText(primary, ["rev-parse", "main"]);
    const run = await home.roocode(["team", "-p", "--name", "odd", "--", goal], {
      cwd: join(linked, "sub"),
      env: model.env("anthropic"),
      timeoutMs: LONG,
    });
    expect(run.code, run.stdout + run.stderr).toBe(0);
    expect(run.stderr).toMatch(/config\.yaml:\d+:.*ignored/);
    expect(JSON.stringify(JSON.parse(model.proxy.captures[0]?.body ?? ""))).toContain(JSON.stringify(goal).slice(1, -1));
    expect(await readFile(join(linked, "a.txt"), "utf8")).toBe("a\n");
    expect(await gitText(linked, ["status", "--porcelain"])).toBe("M f.txt\n?? untracked.txt");
    expect(await gitText(primary, ["rev-parse", "main"])).toBe(main);
    expect((await gitText(primary, ["worktree", "list"])).split("\n")).toHaveLength(2);
    expect((await readdir(home.home, { recursive: true })).filter((name) => name.endsWith("/pwned"))).toEqual([]);
    model.proxy.assertLegal();
  },
  LONG,
);

test(
  "a goal of 100 kB arrives whole, and one that is a command's word is a goal behind --",
  async () => {
    await using home = await testHome(FILES);
    await using model = await fakeModel(() => ({ text: "Nothing to do." }));
    const long = "refactor the module $(touch pwned) ".repeat(3_000);
    for (const goal of [long, "status"]) {
      await home.roocode(["team", "-p", "--name", "goals", "--", goal], { env: model.env("anthropic"), timeoutMs: LONG });
      expect(model.proxy.captures.at(-1)?.body).toContain(JSON.stringify(goal.trim()).slice(1, -1));
      await rm(join(home.data, "teams", "goals"), { recursive: true, force: true });
    }
    await expectUntouched(home.repo);
  },
  LONG,
);

test(
  "what a model writes does not act on the terminal of who looks at the team, and a team that can't be read hides no other",
  async () => {
    await using home = await testHome(FILES);
    const [task] = ONE_TASK.tasks ?? [];
    const odd = "\u001b[31mred\u001b]0;title\u0007\u009b2J\u202egnp";
    if (!task) throw new Error("There is no task.");
    await using model = await fakeModel({ plan: { ...ONE_TASK, tasks: [{ ...task, subject: `Write ${odd}` }] } });
    const made = await home.roocode(["team", "-p", "--no-merge", "--backend", "process", "--name", "kept", `goal ${odd}`], {
      env: model.env("anthropic"),
      timeoutMs: LONG,
    });
    expect(made.code, made.stderr).toBe(0);
    const looks = [["status", "kept"], ["list"], ["report", "kept"], ["log", "kept"]];
    const shown = await Promise.all(looks.map((args) => home.roocode(["team", ...args])));
    for (const text of [made.stderr, ...shown.map(({ stdout }) => stdout)]) {
      expect(text).toContain("red");
      expect(text).not.toMatch(/[\u001b\u0007\u009b\u202e]/);
    }
    const folder = join(home.data, "teams", "kept");
    await rm(join(folder, "presence", "alice.json"));
    expect((await home.roocode(["team", "status", "kept"])).stdout).toContain("alice  stopped");
    execFileSync("mkfifo", [join(folder, "tasks", "1", "999.json")]);
    await mkdir(join(home.data, "teams", "other"));
    await cp(join(folder, "roster"), join(home.data, "teams", "other", "roster"), { recursive: true });
    const list = await home.roocode(["team", "list"]);
    expect([list.code, list.stderr.trim().split("\n")]).toEqual([0, [expect.stringMatching(/^kept: .*999\.json is no file\. Put/)]]);
    expect(list.stdout).toContain("1 teammate");
    const doctor = await home.roocode(["team", "doctor"]);
    expect([doctor.code, doctor.stderr]).toEqual([1, ""]);
    expect(doctor.stdout).toMatch(/✗ kept: it can't be read\. .*999\.json is no file/);
    await rm(join(folder, "tasks", "1", "999.json"));
    // More than a pipe holds, so that the reader is gone before all is written.
    const log = join(folder, "log.jsonl");
    await writeFile(log, (await readFile(log, "utf8")).repeat(100));
    const bin = decodeURIComponent(new URL("../../bin/roocode.js", import.meta.url).pathname);
    for (const args of ["log kept", "log kept --follow --json"]) {
      const line = `"$0" "$1" team ${args} | head -c 5 >&2; echo "\${PIPESTATUS[0]}"`;
      const piped = { env: childEnvironment(home.home), encoding: "utf8", stdio: "pipe", timeout: 20_000 } as const;
      expect(execFileSync("bash", ["-c", line, process.execPath, bin], piped), args).toBe("0\n");
    }
    await rename(home.repo, `${home.repo}-moved`);
    const gone = { cwd: home.home, env: NOBODY };
    expect((await home.roocode(["team", "doctor", "kept"], gone)).stdout).toContain("✗ kept: its repository");
    for (const args of [
      ["team", "clean", "kept"],
      ["team", "resume", "kept"],
      ["worker", "--team", "kept", "--name", "carol"],
    ]) {
      const refused = await home.roocode(args, gone);
      expect([refused.code, refused.stderr], args.join(" ")).toEqual([
        2,
        expect.stringMatching(/^roocode: The team's repository .* is gone\..*\n$/),
      ]);
    }
  },
  LONG,
);

test.each([
  [["team", "statsu", "x"], /Did you mean "roocode team status"\? .*roocode team -- statsu x/],
  [["team", "-p", "lst"], /Did you mean "roocode team list"\?/],
] as const)("a mistyped command starts no team: %j", async (args, words) => {
  await using home = await testHome(FILES);
  await expectRefused(home, await home.roocode(args, { env: NOBODY }), words);
});

test("a goal that only begins like a command is a goal", async () => {
  await using home = await testHome(FILES);
  for (const goal of [["test the login"], ["test", "the", "login"], ["--", "statsu", "x"]]) {
    const run = await home.roocode(["team", "-p", ...goal], { env: NOBODY });
    expect(run).toMatchObject({ code: 5 });
    expect(run.stdout).toContain("had not begun: nothing is kept of it");
  }
});

test("an address without http:// is one clear line, in doctor too", async () => {
  await using home = await testHome(FILES);
  const env = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "localhost:9" };
  const words = /ANTHROPIC_BASE_URL is no web address: it begins with http/;
  await expectRefused(home, await home.roocode(["-p", "x"], { env }), words);
  await expectRefused(home, await home.roocode(["team", "-p", "goal"], { env }), words);
  const doctor = await home.roocode(["doctor", "--offline"], { env });
  expect(doctor).toMatchObject({ code: 1, stdout: expect.stringMatching(words) });
});

test("a wrong command line names the help that has what was looked for", async () => {
  await using home = await testHome(FILES);
  expect((await home.roocode(["sessions", "list", "--moon"])).stderr).toContain("See: roocode sessions --help");
  expect((await home.roocode(["--moon"])).stderr).toContain("See: roocode --help");
});
