import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Answer, Conversation } from "../../src/interaction/demo/conversation.ts";
import type { AnswerFunction } from "../../src/interaction/demo/model-server.ts";
import { gitText } from "../../src/platform/git.ts";
import { eventually } from "../support/eventually.ts";
import { type FakeModel, fakeModel, inOrder } from "../support/fake-model.ts";
import { childEnvironment, type TestHome, testHome } from "../support/home.ts";
import { tmuxTest } from "../support/in-tmux.ts";
import { processesWith, startTeam, statusOf } from "../support/running-team.ts";
import { tmuxSocket } from "../support/tmux-server.ts";

const BIN = decodeURIComponent(new URL("../../bin/roocode.js", import.meta.url).pathname);
const LONG = 90_000;
const SECRET = "sk-only-in-the-environment-7261";

const call = (name: string, input: Record<string, unknown>): Answer => ({ calls: [{ name, input }] });
const bash = (command: string): Answer => call("Bash", { command });
const start = (...names: string[]): Answer => ({
  calls: names.map((name) => ({ name: "Agent", input: { name, description: "works", prompt: "Do it." } })),
});

const isMember = ({ role }: Conversation, name: string) => role.type === "worker" && role.name === name;

function resultsOf(model: FakeModel, isOf: (conversation: Conversation) => boolean): string[] {
  const steps = model.requests.findLast(isOf)?.steps ?? [];
  return steps.flatMap((step) => (step.type === "call" ? [step.result] : []));
}

/** Keeps each event that it gets, and refuses one command. */
const HOOK = 'f=$(mktemp "$HOME/event-XXXXXX"); cat > "$f"; if grep -q forbidden "$f"; then echo "not in this project" >&2; exit 2; fi';

/** A repository whose own settings have the hook. */
async function projectWithHook(): Promise<TestHome> {
  const config = JSON.stringify({ hooks: [{ event: "pre_tool_use", action: { type: "command", command: HOOK } }] });
  return testHome({ "f.txt": "one\n", ".roocode/config.yaml": `${config}\n` });
}

/** Lead and teammate try the same command; the teammate has a task by then. */
function forbidden(before: (conversation: Conversation) => Promise<void> = async () => undefined): AnswerFunction {
  const lead = [call("TaskCreate", { subject: "look", description: "look" }), bash("echo forbidden"), start("alice"), { text: "I wait." }];
  const alice = [
    call("TaskUpdate", { taskId: "1", owner: "alice", status: "in_progress" }),
    bash("echo forbidden"),
    bash("printenv MY_SETTING ROOCODE_PORT ROOCODE_PORT_COUNT"),
    call("TaskUpdate", { taskId: "1", status: "completed", noChange: true, note: "nothing to do" }),
    { text: "Done." },
  ];
  return async (conversation) => {
    await before(conversation);
    return inOrder(...(conversation.role.type === "worker" ? alice : lead))(conversation);
  };
}

async function expectHooked(home: TestHome, model: FakeModel): Promise<void> {
  for (const isOf of [({ role }: Conversation) => role.type === "lead", (one: Conversation) => isMember(one, "alice")])
    expect(resultsOf(model, isOf)[1]).toContain("not in this project");
  const names = (await readdir(home.home)).filter((name) => name.startsWith("event-"));
  const events: Record<string, unknown>[] = await Promise.all(
    names.map(async (name) => JSON.parse(await readFile(join(home.home, name), "utf8"))),
  );
  const denied = events.filter((event) => JSON.stringify(event).includes("forbidden"));
  expect(denied).toHaveLength(2);
  expect(denied).toContainEqual(expect.objectContaining({ agent: "lead", team: "t" }));
  expect(denied).toContainEqual(
    expect.objectContaining({ agent: "alice", team: "t", task_id: "1", worktree: expect.stringMatching(/worktrees\/.*\/t\/alice$/) }),
  );
}

const FLAGS = ["team", "goal", "--name", "t", "--no-coordinator", "--trust", "--permission-mode", "bypassPermissions"];

tmuxTest(
  "T10, T11, P06 in tmux: environment and hooks reach the pane of a member, nobody is asked there, and no process has a key in its arguments",
  async () => {
    await using home = await projectWithHook();
    await using socket = await tmuxSocket();
    const seen: number[][] = [];
    await using model = await fakeModel(
      forbidden(async (conversation) => {
        if (isMember(conversation, "alice")) seen.push(await processesWith(SECRET));
      }),
    );
    // The server is there before the lead, and has nothing of its environment.
    await socket.tmux("new-session", "-d", "-x", "200", "-y", "50", "sleep", "600");
    await socket.tmux("set-option", "-g", "remain-on-exit", "on");
    const env = { ...childEnvironment(home.home), ...model.env("anthropic"), ANTHROPIC_API_KEY: SECRET, MY_SETTING: "reached" };
    const script = join(home.home, "lead.sh");
    const lines = Object.entries(env).map(([name, value]) => `export ${name}='${value}'\n`);
    await writeFile(script, `${lines.join("")}exec '${process.execPath}' '${BIN}' ${FLAGS.join(" ")} --backend tmux\n`);
    expect(await readdir(home.home)).toEqual(["lead.sh"]);
    const lead = await socket.tmux("new-window", "-P", "-F", "#{pane_id}", "-c", home.repo, "bash", script);
    const screens = async () => {
      const panes = await socket.lines("list-panes", "-a", "-F", "#{pane_id}");
      return (await Promise.all(panes.map((pane) => socket.tmux("capture-pane", "-p", "-t", pane)))).join("\n");
    };
    await eventually(
      async () => (await socket.lines("list-panes", "-a", "-F", "#{pane_id} #{pane_dead}")).includes(`${lead} 1`),
      LONG,
    ).catch(async (error: unknown) => {
      throw new Error(`${error instanceof Error ? error.message : error}\n${await screens()}`);
    });
    await expectHooked(home, model);
    expect(resultsOf(model, (one) => isMember(one, "alice"))[2]).toContain("reached\n20000\n10");
    expect(seen.length).toBeGreaterThan(2);
    expect(seen.flat()).toEqual([]);
  },
  LONG,
);

test(
  "P06 in-process: the project's hook fires for lead and teammate, and knows team, task and worktree",
  async () => {
    await using home = await projectWithHook();
    await using model = await fakeModel(forbidden());
    const run = await home.roocode([...FLAGS, "-p", "--backend", "in-process"], { env: model.env("anthropic"), timeoutMs: LONG });
    expect(run.code, run.stderr).toBe(0);
    await expectHooked(home, model);
  },
  LONG,
);

test(
  "the setup command of a trusted project runs before the member; ports are its own; two that change one file are told, and status names it",
  async () => {
    const settings = {
      team: { worktree: { setup: 'echo "$ROOCODE_PORT" > port.txt', teardown: "exit 3", ports: { from: 21_000, size: 5 } } },
    };
    await using home = await testHome({ "f.txt": "one\n", ".gitignore": "port.txt\n", ".roocode/config.yaml": JSON.stringify(settings) });
    let go: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    const work = (name: string) => [
      bash("cat port.txt; printenv ROOCODE_PORT_COUNT"),
      bash(`echo ${name} > f.txt && git add f.txt && git commit --quiet --message=${name}`),
    ];
    await using model = await fakeModel(async (conversation) => {
      const { role, rounds } = conversation;
      if (role.type !== "worker") return inOrder(start("alice", "bob"), { text: "I wait." })(conversation);
      // Bob commits once alice has.
      const hasAliceDone = () => model.requests.some((one) => isMember(one, "alice") && one.rounds === 2);
      if (role.name === "bob" && rounds === 1) await eventually(hasAliceDone, LONG);
      if (rounds === 2) await held;
      return inOrder(...work(role.name), bash("git status --short"), { text: "Done." })(conversation);
    });
    const flags = ["goal", "-p", "--name", "t", "--backend", "process", "--no-merge", "--permission-mode", "bypassPermissions"];
    await using run = startTeam(home, [...flags, "--trust"], model.env("anthropic"));
    await eventually(() => model.requests.filter(({ role, rounds }) => role.type === "worker" && rounds === 2).length === 2, LONG);
    const status = await statusOf(home, "t");
    expect(status.overlaps).toEqual([{ file: "f.txt", members: expect.arrayContaining(["alice", "bob"]) }]);
    expect(status.members.map(({ files }) => files)).toEqual([["f.txt"], ["f.txt"]]);
    expect(status.members.map(({ ports }) => ports?.first).sort()).toEqual([21_000, 21_005]);
    const { stdout } = await home.roocode(["team", "status", "t"]);
    expect(stdout).toMatch(/ {2}! (alice and bob|bob and alice) both change f\.txt\n/);
    go();
    expect((await run.ended).code, run.output()).toBe(0);
    for (const [name, other] of [
      ["alice", "bob"],
      ["bob", "alice"],
    ] as const) {
      const port = status.members.find((member) => member.name === name)?.ports?.first;
      expect(resultsOf(model, (one) => isMember(one, name))[0]).toContain(`${port}\n5`);
      const read = JSON.stringify(model.requests.findLast((one) => isMember(one, name))?.steps);
      expect(read).toMatch(new RegExp(`The system sees that (${name} and ${other}|${other} and ${name}) both change f\\.txt`));
    }
    // The teardown fails, is told, and holds nothing up.
    await gitText(home.repo, ["merge", "--quiet", "worktree-team-t+alice"]);
    const cleaned = await home.roocode(["team", "clean", "t", "--force"]);
    expect(cleaned.stdout).toMatch(/The teardown command \(exit 3\) failed in .*alice/);
    expect(await readdir(join(home.data, "worktrees")).catch(() => [])).toEqual([]);
  },
  LONG,
);

test(
  "without trust a project's setup command does not run, and that is said",
  async () => {
    const settings = { team: { worktree: { setup: 'touch "$ROOCODE_PRIMARY/ran"' } } };
    await using home = await testHome({ "f.txt": "one\n", ".roocode/config.yaml": JSON.stringify(settings) });
    await mkdir(home.data, { recursive: true });
    await using model = await fakeModel(inOrder(start("alice"), { text: "Done." }));
    const run = await home.roocode(["team", "goal", "-p", "--name", "t", "--backend", "process"], { env: model.env("anthropic") });
    expect(run.code, run.stderr).toBe(0);
    expect(run.stderr).toContain("team.worktree.setup touch");
    expect(await readdir(home.repo)).not.toContain("ran");
  },
  LONG,
);

test("a sub-agent with a worktree of its own gets setup, ports and teardown like a teammate", async () => {
  await using home = await testHome({ "f.txt": "one\n", ".gitignore": "said.txt\n" });
  await mkdir(home.data, { recursive: true });
  const commands = { setup: 'echo "set up on $ROOCODE_PORT" > said.txt', teardown: 'echo "$ROOCODE_PORT" > "$HOME/torn"' };
  await writeFile(join(home.data, "config.yaml"), JSON.stringify({ team: { worktree: commands } }));
  const isSub = (conversation: Conversation) => conversation.steps.some((step) => step.type === "words" && step.text.includes("Look."));
  const agent = call("Agent", { description: "look", prompt: "Look.", subagent_type: "general-purpose", isolation: "worktree" });
  await using model = await fakeModel((conversation) =>
    isSub(conversation)
      ? inOrder(bash("cat said.txt; printenv ROOCODE_PORT; rm said.txt"), { text: "Seen." })(conversation)
      : inOrder(agent, { text: "Done." })(conversation),
  );
  const run = await home.roocode(["-p", "x", "--permission-mode", "bypassPermissions"], { env: model.env("anthropic") });
  expect(run.code, run.stderr).toBe(0);
  expect(resultsOf(model, isSub)[0]).toContain("set up on 20000\n20000");
  expect(await readFile(join(home.home, "torn"), "utf8")).toBe("20000\n");
});
