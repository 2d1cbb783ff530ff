import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Answer, Conversation } from "../../src/interaction/demo/conversation.ts";
import type { AnswerFunction } from "../../src/interaction/demo/model-server.ts";
import { gitText } from "../../src/platform/git.ts";
import { type FakeModel, fakeModel, inOrder } from "../support/fake-model.ts";
import { testHome } from "../support/home.ts";
import { livingMembers } from "../support/running-team.ts";

const LONG = 60_000;
const FILES = { "f.txt": "one\n" };

const call = (name: string, input: Record<string, unknown>): Answer => ({ calls: [{ name, input }] });
const bash = (command: string): Answer => call("Bash", { command });
const update = (input: Record<string, unknown>): Answer => call("TaskUpdate", input);
const take = (taskId: string, owner: string): Answer => update({ taskId, owner, status: "in_progress" });
const write = (path: string): Answer => call("WriteFile", { path, content: "new\n" });
const DONE: Answer = { text: "I am done." };

const START: Answer[] = [
  {
    calls: ["first", "second"].map((subject) => ({ name: "TaskCreate", input: { subject, description: subject } })),
  },
  { calls: ["alice", "bob"].map((name) => ({ name: "Agent", input: { name, description: "works", prompt: "Do it." } })) },
  { text: "I wait." },
];

const allDone = (taskId: string, name: string) => [take(taskId, name), write(`${name}.txt`), update({ taskId, status: "completed" }), DONE];
const fails = (taskId: string, name: string) => [
  take(taskId, name),
  update({ taskId, status: "failed", note: "There is no such library." }),
  DONE,
];

function words({ steps }: Conversation): string {
  return steps.map((step) => (step.type === "words" ? step.text : step.result)).join("\n");
}

/** The lead waits for its members, asks one that does not end to stop, then merges by the integrator. */
function script(members: Record<string, readonly Answer[]>, stops?: string): AnswerFunction {
  let asked = false;
  return (conversation) => {
    const { role, rounds } = conversation;
    if (role.type === "worker") return inOrder(...(members[role.name] ?? []))(conversation);
    if (role.type === "integrator") {
      const merges = words(conversation).match(/^git merge --no-ff .*$/gm) ?? [];
      const merge = merges[rounds];
      return merge === undefined ? { text: "All is merged." } : bash(merge);
    }
    const next = START[rounds];
    if (next) return next;
    if (stops !== undefined && !asked && /from="alice" status="idle"/.test(words(conversation))) {
      asked = true;
      return call("SendMessage", { to: stops, message: { type: "shutdown_request" } });
    }
    return { text: "I wait for what is left." };
  };
}

async function runTeam(answers: AnswerFunction, look: (model: FakeModel) => void = () => undefined) {
  await using home = await testHome(FILES);
  await using model = await fakeModel(answers);
  const run = await home.roocode(["team", "--print", "--output-format", "json", "--name", "ci", "--backend", "process", "a goal"], {
    env: model.env("anthropic"),
    timeoutMs: LONG,
  });
  look(model);
  expect(run.stdout.trim().split("\n"), run.stderr).toHaveLength(1);
  return { ...run, result: JSON.parse(run.stdout), files: await gitText(home.repo, ["ls-files"]), left: await livingMembers(home) };
}

test(
  "L06: without a terminal, all tasks completed and merged: exit 0, one JSON object on standard output",
  async () => {
    const { code, result, files, left } = await runTeam(script({ alice: allDone("1", "alice"), bob: allDone("2", "bob") }));
    expect([code, result.exit_code, result.is_error]).toEqual([0, 0, false]);
    expect(result).toMatchObject({ type: "result", team: "ci", unmerged: [] });
    expect(result.merged.sort()).toEqual(["alice", "bob"]);
    expect([files, left]).toEqual(["alice.txt\nbob.txt\nf.txt", []]);
  },
  LONG,
);

test(
  "L06: one task fails for good: exit 3, what is done is merged, what is not is named",
  async () => {
    const { code, result, files, left } = await runTeam(script({ alice: allDone("1", "alice"), bob: fails("2", "bob") }));
    expect([code, result.exit_code]).toEqual([3, 3]);
    expect(result.result).toMatch(/Not completed: 2 second \(failed\)\.\nGo on with: roocode team resume ci/);
    expect(result.tasks).toMatchObject([{ status: "completed" }, { status: "failed" }]);
    expect([files, left]).toEqual(["alice.txt\nf.txt", []]);
  },
  LONG,
);

test(
  "L06: every task fails: exit 1, nothing is merged",
  async () => {
    const { code, result, files, left } = await runTeam(script({ alice: fails("1", "alice"), bob: fails("2", "bob") }));
    expect([code, result.merged, files, left]).toEqual([1, [], "f.txt", []]);
  },
  LONG,
);

test(
  "L06: a teammate that never ends is stopped when the lead wants it, its work is saved, and the team comes to an end with exit 3",
  async () => {
    const endless = [take("2", "bob"), write("half.txt"), bash("sleep 599")];
    const { code, result, left } = await runTeam(script({ alice: allDone("1", "alice"), bob: endless }, "bob"));
    expect([code, result.tasks[1].status, left]).toEqual([3, "pending", []]);
    expect(result.merged).toContain("alice");
  },
  LONG,
);

test(
  "P01, P07: by the flag each spawn says its mode, a narrower one holds; what a rule wants asked is denied within a second",
  async () => {
    await using home = await testHome(FILES);
    await mkdir(home.data, { recursive: true });
    await writeFile(join(home.data, "config.yaml"), "permissions:\n  ask:\n    - Bash(node:*)\n");
    const at: number[] = [];
    const agents = [
      { name: "Agent", input: { name: "alice", description: "works", prompt: "Do it." } },
      { name: "Agent", input: { name: "bob", description: "works", prompt: "Do it.", permission_mode: "default" } },
    ];
    await using model = await fakeModel((conversation) => {
      const { role } = conversation;
      if (role.type !== "worker") return inOrder({ calls: agents }, { text: "I wait." })(conversation);
      if (role.name === "alice") {
        at.push(Date.now());
        return inOrder(bash("node --version"), { text: "Denied." })(conversation);
      }
      return { text: "Nothing." };
    });
    const flags = ["-p", "--name", "modes", "--backend", "process", "--permission-mode", "bypassPermissions"];
    const run = await home.roocode(["team", "goal", ...flags], { env: model.env("anthropic"), timeoutMs: LONG });
    const spawned = words(model.requests.findLast(({ role }) => role.type === "lead") ?? { role: { type: "lead" }, steps: [], rounds: 0 });
    expect(spawned, run.stderr).toContain("alice is ready (process, mode bypassPermissions)");
    expect(spawned).toContain("bob is ready (process, mode default)");
    const alice = model.requests.findLast(({ role }) => role.type === "worker" && role.name === "alice");
    expect(alice?.steps.flatMap((step) => (step.type === "call" ? [step.result] : []))).toEqual([expect.stringMatching(/denied/i)]);
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeLessThan(1_000);
    expect(run.stdout).toMatch(/alice: Bash\(node --version\)/);
  },
  LONG,
);
