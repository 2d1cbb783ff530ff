import { randomInt } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Answer, Conversation } from "../../src/interaction/demo/conversation.ts";
import { type PlanInput, readPlan } from "../../src/interaction/demo/plan.ts";
import { scriptedTurn } from "../../src/interaction/demo/scripted-model.ts";
import { git, gitText } from "../../src/platform/git.ts";
import { withLock } from "../../src/platform/lock.ts";
import { dataPaths } from "../../src/platform/paths.ts";
import { runCommand } from "../../src/platform/process.ts";
import { eventually } from "../support/eventually.ts";
import { type FakeModel, fakeModel } from "../support/fake-model.ts";
import { type TestHome, testHome } from "../support/home.ts";
import { tmuxTest } from "../support/in-tmux.ts";
import { livingMembers, processesWith, type RunningTeam, startTeam, statusOf } from "../support/running-team.ts";

const LONG = 120_000;
const FLAGS = ["-p", "--name", "kill", "--backend", "process", "--permission-mode", "bypassPermissions", "--output-format", "json"];

/** A command that never ends by itself, found again among all processes by its number. */
const endless = () => `sleep ${randomInt(100_000, 900_000)}`;

function twoTasks(command?: string): PlanInput {
  return {
    teammates: [
      { name: "alice", prompt: "You are alice." },
      { name: "bob", prompt: "You are bob." },
    ],
    tasks: [
      {
        key: "a",
        subject: "Write a",
        teammate: "alice",
        edits: [{ file: "a.txt", content: "from alice\n" }],
        commands: command ? [command] : [],
      },
      { key: "b", subject: "Write b", teammate: "bob", edits: [{ file: "b.txt", content: "from bob\n" }] },
    ],
  };
}

/** The plan's answers; `before` may hold one back, or take its place. */
function playing(
  plan: PlanInput,
  before: (conversation: Conversation, answer: Answer) => Promise<Answer | undefined> | undefined,
): (conversation: Conversation) => Promise<Answer> {
  const read = readPlan(plan);
  return async (conversation) => {
    const answer = scriptedTurn(read, conversation);
    return (await before(conversation, answer)) ?? answer;
  };
}

/** A point in the script that is reached, and from which it goes on when the test says so. */
function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const state = { reached: false };
  return {
    state,
    open: () => open(),
    wait: async () => {
      state.reached = true;
      await opened;
    },
  };
}

const isWorker = ({ role }: Conversation, name: string) => role.type === "worker" && role.name === name;
const calls = (answer: Answer, name: string) => answer.calls?.some((call) => call.name === name) === true;

async function pidOf(home: TestHome, name: string): Promise<number> {
  const member = (await statusOf(home, "kill")).members.find((one) => one.name === name);
  if (member?.pid === undefined) throw new Error(`${name} has no process.`);
  return member.pid;
}

/** A shell that was seen may have started its command meanwhile: until none is left. */
async function endAll(command: string): Promise<void> {
  await eventually(async () => {
    const found = await processesWith(command);
    for (const pid of found) process.kill(pid, "SIGKILL");
    return found.length === 0;
  });
}

/** Both edits are on main, nothing else is left, and no request was one that a vendor refuses. */
async function expectRightEnd(home: TestHome, model: FakeModel): Promise<void> {
  expect(await readFile(join(home.repo, "a.txt"), "utf8")).toBe("from alice\n");
  expect(await readFile(join(home.repo, "b.txt"), "utf8")).toBe("from bob\n");
  expect(await gitText(home.repo, ["status", "--porcelain"])).toBe("");
  expect(await gitText(home.repo, ["branch", "--format=%(refname:short)"])).toBe("main");
  expect((await gitText(home.repo, ["worktree", "list"])).split("\n")).toHaveLength(1);
  const check = await git(home.repo, ["fsck", "--strict"]);
  expect(check.exitCode, check.stderr).toBe(0);
  await eventually(async () => (await livingMembers(home)).length === 0);
  model.proxy.assertLegal();
}

async function expectSuccess(run: RunningTeam): Promise<void> {
  const { code } = await run.ended;
  expect(code, run.output()).toBe(0);
}

const resume = (home: TestHome, env: Record<string, string>, flags: readonly string[] = []) =>
  startTeam(home, ["resume", "kill", "-p", "--permission-mode", "bypassPermissions", ...flags], env);

test(
  "a teammate that is killed in mid-tool: its task and edit come back, what it ran is ended, the team ends well (K05)",
  async () => {
    const command = endless();
    await using model = await fakeModel({ plan: twoTasks(command) });
    await using home = await testHome();
    await using run = startTeam(home, ["goal", ...FLAGS], model.env("anthropic"));
    await eventually(async () => (await processesWith(command)).length > 0, LONG);
    const before = await pidOf(home, "alice");
    const first = await processesWith(command);
    process.kill(before, "SIGKILL");
    // She is started again and runs it once more; what the killed one ran is ended by then.
    await eventually(async () => (await livingMembers(home)).some(({ name, pid }) => name === "alice" && pid !== before), LONG);
    expect((await processesWith(command)).filter((pid) => first.includes(pid))).toEqual([]);
    await eventually(async () => (await processesWith(command)).length > 0, LONG);
    await endAll(command);
    await expectSuccess(run);
    await expectRightEnd(home, model);
    expect(await processesWith(command)).toEqual([]);
  },
  LONG,
);

test(
  "a teammate that is killed while its model answers goes on when it is written to",
  async () => {
    let killed = false;
    const reached = gate();
    await using model = await fakeModel(
      playing(twoTasks(), (conversation, answer) =>
        isWorker(conversation, "alice") && calls(answer, "WriteFile") && !killed ? reached.wait().then(() => undefined) : undefined,
      ),
    );
    await using home = await testHome();
    await using run = startTeam(home, ["goal", ...FLAGS], model.env("openai"));
    await eventually(() => reached.state.reached, LONG);
    const pid = await pidOf(home, "alice");
    killed = true;
    process.kill(pid, "SIGKILL");
    reached.open();
    await expectSuccess(run);
    await expectRightEnd(home, model);
  },
  LONG,
);

test(
  "the lead that is killed while teammates work: they save and park, status says so, resume goes on to the right end (L02)",
  async () => {
    const command = endless();
    await using model = await fakeModel({ plan: twoTasks(command) });
    await using home = await testHome();
    await using run = startTeam(home, ["goal", ...FLAGS], model.env("anthropic"));
    await eventually(async () => (await processesWith(command)).length > 0, LONG);
    process.kill(run.pid, "SIGKILL");
    await run.ended;
    const status = await statusOf(home, "kill");
    expect(status).toMatchObject({ state: "dead", lead: { alive: false } });
    await endAll(command);
    await eventually(async () => (await statusOf(home, "kill")).members.every((member) => member.state === "waiting"), LONG);
    const asked = model.proxy.captures.length;
    await using second = resume(home, model.env("anthropic"));
    await expectSuccess(second);
    await expectRightEnd(home, model);
    expect(model.proxy.captures.length).toBeGreaterThan(asked);
  },
  LONG,
);

test(
  "the lead that is killed in its first turn has its goal again after resume",
  async () => {
    const first = gate();
    await using model = await fakeModel(
      playing(twoTasks(), ({ role, rounds }) =>
        role.type === "lead" && rounds === 0 && !first.state.reached ? first.wait().then(() => undefined) : undefined,
      ),
    );
    await using home = await testHome();
    await using run = startTeam(home, ["a goal to remember", ...FLAGS], model.env("anthropic"));
    await eventually(() => first.state.reached, LONG);
    process.kill(run.pid, "SIGKILL");
    await run.ended;
    first.open();
    await using second = resume(home, model.env("anthropic"));
    await expectSuccess(second);
    await expectRightEnd(home, model);
    expect(model.proxy.captures.at(-1)?.body).toContain("a goal to remember");
  },
  LONG,
);

test(
  "the lead that is killed while Converge runs: main is as it was, and resume merges all",
  async () => {
    const merging = gate();
    await using model = await fakeModel(
      playing(twoTasks(), ({ role, rounds }) =>
        role.type === "integrator" && rounds === 1 && !merging.state.reached ? merging.wait().then(() => undefined) : undefined,
      ),
    );
    await using home = await testHome();
    const before = await gitText(home.repo, ["rev-parse", "main"]);
    await using run = startTeam(home, ["goal", ...FLAGS], model.env("anthropic"));
    await eventually(() => merging.state.reached, LONG);
    process.kill(run.pid, "SIGKILL");
    await run.ended;
    merging.open();
    expect(await gitText(home.repo, ["rev-parse", "main"])).toBe(before);
    await using second = resume(home, model.env("anthropic"));
    await expectSuccess(second);
    await expectRightEnd(home, model);
  },
  LONG,
);

test.each(["SIGINT", "SIGTERM"] as const)(
  "%s to the lead stops the members, saves their work, and resume goes on, with another model for all where one is named (L04)",
  async (signal) => {
    const command = endless();
    await using model = await fakeModel({ plan: twoTasks(command) });
    await using home = await testHome();
    await using run = startTeam(home, ["goal", ...FLAGS], model.env("anthropic"));
    await eventually(async () => (await processesWith(command)).length > 0, LONG);
    process.kill(run.pid, signal);
    const { code } = await run.ended;
    expect(code, run.output()).toBe(130);
    expect(await livingMembers(home)).toEqual([]);
    expect(await processesWith(command)).toEqual([]);
    expect(await gitText(home.repo, ["show", "worktree-team-kill+alice:a.txt"])).toBe("from alice");
    expect(run.output()).toContain("roocode team resume kill");
    const asked = model.proxy.captures.length;
    await using second = resume(home, model.env("anthropic"), ["--model", "another-model"]);
    await expectSuccess(second);
    await expectRightEnd(home, model);
    const models = model.proxy.captures.slice(asked).map(({ body }) => JSON.parse(body).model);
    expect([...new Set(models)]).toEqual(["another-model"]);
    expect(model.requests.slice(asked).map(({ role }) => role.type)).toContain("worker");
  },
  LONG,
);

test.each(["SIGTERM"] as const)(
  "%s to a teammate saves its work; a message starts it again",
  async (signal) => {
    const command = endless();
    await using model = await fakeModel({ plan: twoTasks(command) });
    await using home = await testHome();
    await using run = startTeam(home, ["goal", ...FLAGS], model.env("anthropic"));
    await eventually(async () => (await processesWith(command)).length > 0, LONG);
    process.kill(await pidOf(home, "alice"), signal);
    await expectSuccess(run);
    await expectRightEnd(home, model);
    expect(await processesWith(command)).toEqual([]);
  },
  LONG,
);

test(
  "a suspended teammate is called unreachable, and the lead waits until it goes on (L01)",
  async () => {
    const held = gate();
    await using model = await fakeModel(
      playing(twoTasks(), (conversation, answer) =>
        isWorker(conversation, "alice") && calls(answer, "WriteFile") ? held.wait().then(() => undefined) : undefined,
      ),
    );
    await using home = await testHome();
    await using run = startTeam(home, ["goal", ...FLAGS], model.env("anthropic"));
    await eventually(() => held.state.reached, LONG);
    const pid = await pidOf(home, "alice");
    process.kill(pid, "SIGSTOP");
    held.open();
    await eventually(async () => (await statusOf(home, "kill")).tasks.some((task) => task.id === "2" && task.status === "completed"), LONG);
    expect((await statusOf(home, "kill")).members.find((member) => member.name === "alice")?.state).toBe("unreachable");
    process.kill(pid, "SIGCONT");
    await expectSuccess(run);
    await expectRightEnd(home, model);
  },
  LONG,
);

test(
  "the lead that is killed between a member's roster entry and its worktree: the half member is gone after resume, and its name spawns again (L09)",
  async () => {
    await using model = await fakeModel({ plan: twoTasks() });
    await using home = await testHome();
    const lock = join(dataPaths(home.home).project(home.repo), "worktrees.lock");
    await withLock(lock, async () => {
      await using run = startTeam(home, ["goal", ...FLAGS], model.env("anthropic"));
      await eventually(async () => (await membersOf(home)).length === 2, LONG);
      process.kill(run.pid, "SIGKILL");
      await run.ended;
    });
    expect((await gitText(home.repo, ["worktree", "list"])).split("\n")).toHaveLength(1);
    await using second = resume(home, model.env("anthropic"));
    await expectSuccess(second);
    await expectRightEnd(home, model);
  },
  LONG,
);

tmuxTest(
  "the tmux server that is killed: its teammates save and stop, the lead starts them again in a new one, nothing is left",
  async () => {
    const command = endless();
    await using model = await fakeModel({ plan: twoTasks(command) });
    await using home = await testHome();
    const sockets = join(home.home, "sockets");
    await mkdir(sockets);
    const env = { ...model.env("anthropic"), TMUX_TMPDIR: sockets };
    const flags = FLAGS.map((flag) => (flag === "process" ? "tmux" : flag));
    const tmux = (...args: string[]) => runCommand("tmux", args, { env: { PATH: process.env.PATH, TMUX_TMPDIR: sockets } });
    await using run = startTeam(home, ["goal", ...flags], env);
    await eventually(async () => (await processesWith(command)).length > 0, LONG);
    const before = await pidOf(home, "alice");
    expect((await tmux("kill-server")).exitCode).toBe(0);
    await eventually(async () => !(await livingMembers(home)).some(({ pid }) => pid === before), LONG);
    await expectSuccess(run);
    // They ended by themselves, with their work saved: a lost terminal is no crash.
    expect(run.output()).not.toContain(" died:");
    await expectRightEnd(home, model);
    expect(await processesWith(command)).toEqual([]);
    expect((await tmux("list-sessions")).exitCode).not.toBe(0);
  },
  LONG,
);

async function membersOf(home: TestHome): Promise<unknown[]> {
  const text = await readFile(join(home.data, "teams", "kill", "team.json"), "utf8").catch(() => "{}");
  return JSON.parse(text).members ?? [];
}
