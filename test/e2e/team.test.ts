import { execFile } from "node:child_process";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, expect, test } from "vitest";
import demoPlan from "../../src/interaction/demo/demo-plan.json" with { type: "json" };
import { gitText } from "../../src/platform/git.ts";
import { fakeModel } from "../support/fake-model.ts";
import { sampleRepository, type TestHome, testHome } from "../support/home.ts";
import { planFor } from "../support/plan-for.ts";
import { assertSessionLegal } from "../support/proxy.ts";

const LONG = 150_000;
const hasTmux = await promisify(execFile)("tmux", ["-V"]).then(
  () => true,
  () => false,
);
const tmuxFolders: string[] = [];

afterEach(async () => {
  // A server that a failed test left: on its own socket only.
  for (const folder of tmuxFolders.splice(0)) {
    await promisify(execFile)("tmux", ["kill-server"], { env: { PATH: process.env.PATH ?? "", TMUX_TMPDIR: folder } }).catch(
      () => undefined,
    );
  }
});

/** Temporary files and a tmux server of the test's own, so that it shows what is left behind. */
async function ownPlaces(home: TestHome): Promise<{ env: Record<string, string>; temporary: string; servers: string }> {
  const temporary = join(home.home, "tmp");
  const servers = join(home.home, "tmux");
  await mkdir(temporary);
  await mkdir(servers);
  tmuxFolders.push(servers);
  return { env: { TMPDIR: temporary, TMUX_TMPDIR: servers }, temporary, servers };
}

test.each([
  { backend: "process", protocol: "anthropic" },
  { backend: "in-process", protocol: "openai" },
] as const)(
  "a team on backend $backend over $protocol: four tasks, a message, a conflict; every body and session is legal",
  async ({ backend, protocol }) => {
    await using model = await fakeModel({ plan: demoPlan });
    await using home = await testHome();
    const run = await home.roocode(
      ["team", "Harden the auth module", "-p", "--name", "auth", "--backend", backend, "--check", "node --test", "--output-format", "json"],
      { env: { ...model.env(protocol), ...(await ownPlaces(home)).env }, timeoutMs: LONG },
    );
    expect(run.code, run.stderr).toBe(0);
    const result = JSON.parse(run.stdout.trim().split("\n").at(-1) ?? "");
    expect(result).toMatchObject({ type: "result", team: "auth", unmerged: [], is_error: false });
    expect([...result.merged].sort()).toEqual(["alice", "bob", "carol"]);
    expect(result.tasks.map((task: { status: string; owner: string }) => `${task.status} ${task.owner}`)).toEqual([
      "completed alice",
      "completed bob",
      "completed bob",
      "completed carol",
    ]);
    await expectMerged(home.repo);

    model.proxy.assertLegal();
    const integrator = model.requests.filter((request) => request.role.type === "integrator").at(-1);
    const did = integrator?.steps.flatMap((step) => (step.type === "call" ? [step.name] : []));
    expect(did).toEqual(["Bash", "Bash", "ReadFile", "EditFile", "Bash", "Bash", "Bash"]);

    const done = join(home.data, "teams", ".done");
    const [team = ""] = await readdir(done);
    const sessions = (await readdir(join(done, team, "sessions"))).filter((name) => name.endsWith(".jsonl"));
    expect(sessions).toHaveLength(5);
    for (const name of sessions) await assertSessionLegal(join(done, team, "sessions", name));
  },
  LONG,
);

test.each([{ backend: "process" }, ...(hasTmux ? [{ backend: "tmux" }] : [])])(
  "the demo on backend $backend leaves its repository merged, and nothing else",
  async ({ backend }) => {
    await using home = await testHome();
    const places = await ownPlaces(home);
    const folder = join(home.home, "my sample");
    const run = await home.roocode(["demo", "--dir", folder, "--backend", backend], { env: places.env, timeoutMs: LONG });
    expect(run.code, run.stdout + run.stderr).toBe(0);
    const lines = run.stdout.trim().split("\n");
    expect(lines[0]).toContain("scripted answers, no AI");
    expect(lines.at(-1)).toContain("scripted answers, no AI");
    expect(run.stdout).not.toContain("\u001b");
    expect(run.stdout).toContain("The sample's tests pass");
    await expectMerged(folder);
    expect(await readdir(places.temporary)).toEqual([]);
    expect(await readdir(home.home)).not.toContain(".roocode");
    if (backend === "tmux") await expectNoServer(places.servers);
  },
  LONG,
);

test("the demo refuses a folder that has something in it, and leaves that alone", async () => {
  await using home = await testHome({ "mine.txt": "mine\n" });
  const places = await ownPlaces(home);
  const run = await home.roocode(["demo", "--dir", home.repo], { env: places.env });
  expect(run.code).toBe(2);
  expect(run.stderr).toContain("not empty");
  expect(await readFile(join(home.repo, "mine.txt"), "utf8")).toBe("mine\n");
  expect(await readdir(places.temporary)).toEqual([]);
});

test(
  "four teammates edit a repository that nobody prepared; two of them the same file",
  async () => {
    await using home = await testHome({});
    const repo = join(home.home, "a repo #(x)");
    await sampleRepository(repo, {
      "index.js": "export const one = 1;\n",
      "README.md": "# Something\n\nFor tests.\n",
      "lib/two.py": "two = 2\n",
    });
    await using model = await fakeModel({ plan: await planFor(repo, 4) });
    const run = await home.roocode(["team", "look through it", "-p", "--name", "look", "--backend", "process"], {
      cwd: repo,
      env: { ...model.env("anthropic"), ...(await ownPlaces(home)).env },
      timeoutMs: LONG,
    });
    expect(run.code, run.stdout + run.stderr).toBe(0);
    const remarks = await gitText(repo, ["grep", "-h", "Looked through by", "HEAD"]);
    expect(remarks.match(/by \w+/g)?.sort()).toEqual(["by alice", "by bob", "by carol", "by dave"]);
    expect(await gitText(repo, ["branch", "--format=%(refname:short)"])).toBe("main");
    model.proxy.assertLegal();
  },
  LONG,
);

/** On main, clean, no other branch or worktree, a merge a member, and the tests of the whole pass. */
async function expectMerged(repo: string): Promise<void> {
  expect(await gitText(repo, ["status", "--porcelain"])).toBe("");
  expect(await gitText(repo, ["branch", "--format=%(refname:short)"])).toBe("main");
  expect((await gitText(repo, ["worktree", "list"])).split("\n")).toHaveLength(1);
  const subjects = (await gitText(repo, ["log", "--first-parent", "--format=%s"])).split("\n");
  expect(subjects.slice(0, 3)).toEqual(["merge: carol", "merge(bob): resolve conflict", "merge: alice"]);
  await promisify(execFile)(process.execPath, ["--test"], { cwd: repo });
}

async function expectNoServer(folder: string): Promise<void> {
  const listed = promisify(execFile)("tmux", ["list-sessions"], { env: { PATH: process.env.PATH ?? "", TMUX_TMPDIR: folder } });
  await expect(listed).rejects.toThrow(/no server running|error connecting/);
}
