import { expect, test } from "vitest";
import { type Call, jsonLines, type Step } from "../../../src/interaction/demo/conversation.ts";
import { integratorTurn } from "../../../src/interaction/demo/integrator-script.ts";
import { type PlanInput, readPlan } from "../../../src/interaction/demo/plan.ts";
import { workerTurn } from "../../../src/interaction/demo/worker-script.ts";

const PLAN: PlanInput = {
  teammates: [
    { name: "alice", prompt: "go" },
    { name: "bob", prompt: "go" },
  ],
  tasks: [
    { key: "a", subject: "First", teammate: "alice", edits: [{ file: "a.js", old: "1", new: "2" }] },
    { key: "b", subject: "Second", teammate: "bob", blockedBy: ["a"], waitsForMessageFrom: "alice" },
  ],
  messages: [{ from: "alice", to: "bob", afterTask: "a", summary: "a is two", text: "a is two now" }],
};

const plan = readPlan(PLAN);
const start: Step = { type: "words", from: "user", text: "go" };

function call(name: string, input: Record<string, unknown>, result: string): Call {
  return { type: "call", name, input, result };
}

const claimed = call(
  "TaskUpdate",
  { taskId: "1", owner: "alice", status: "in_progress" },
  '{"id":"1","status":"in_progress","subject":"First","owner":"alice"}',
);
const read = call("ReadFile", { path: "a.js" }, "     1\t1");
const edit = { path: "a.js", old_string: "1", new_string: "2" };
const done = call("TaskUpdate", { taskId: "1", status: "completed" }, '{"id":"1","status":"completed","subject":"First","owner":"alice"}');

test("a plan whose task waits for a later one is refused by name", () => {
  const tasks = [...(PLAN.tasks ?? [])].reverse();
  expect(() => readPlan({ ...PLAN, tasks })).toThrow(/"b" waits for "a", which does not stand before it/);
});

test("a worker reads, edits and completes what it claimed", () => {
  const steps: Step[] = [start, claimed];
  expect(workerTurn(plan, "alice", steps).calls).toEqual([{ name: "ReadFile", input: { path: "a.js" } }]);
  steps.push(read);
  expect(workerTurn(plan, "alice", steps).calls).toEqual([{ name: "EditFile", input: edit }]);
  steps.push(call("EditFile", edit, "Edited a.js."));
  expect(workerTurn(plan, "alice", steps).calls).toEqual([{ name: "TaskUpdate", input: { taskId: "1", status: "completed" } }]);
});

test("the same request gets the same answer again", () => {
  const steps: Step[] = [start, claimed, read];
  expect(workerTurn(plan, "alice", steps)).toEqual(workerTurn(plan, "alice", structuredClone(steps)));
});

test("an edit that wants the file read again is repeated after the read", () => {
  const steps: Step[] = [start, claimed, read, call("EditFile", edit, "a.js was not read yet. Read it first, then edit.")];
  expect(workerTurn(plan, "alice", steps).calls).toEqual([{ name: "ReadFile", input: { path: "a.js" } }]);
  expect(workerTurn(plan, "alice", [...steps, read]).calls).toEqual([{ name: "EditFile", input: edit }]);
});

test("a completion whose check fails ends the task as failed, with the output", () => {
  const refused = call("TaskUpdate", { taskId: "1", status: "completed" }, 'Task 1 is not completed: its check "x" failed (exit 1): boom');
  const steps: Step[] = [start, claimed, read, call("EditFile", edit, "Edited a.js."), refused];
  const [answer] = workerTurn(plan, "alice", steps).calls ?? [];
  expect(answer?.input).toMatchObject({ taskId: "1", status: "failed", note: expect.stringContaining("boom") });
});

test("a message goes out once, after its task", () => {
  const sent = call("SendMessage", { to: "bob", summary: "a is two", message: "a is two now" }, "Delivered to bob.");
  expect(workerTurn(plan, "alice", [start, claimed, done]).calls).toEqual([{ name: "SendMessage", input: sent.input }]);
  expect(workerTurn(plan, "alice", [start, claimed, done, sent]).calls).toEqual([{ name: "TaskList", input: {} }]);
});

test("a task that needs a message is not begun before it was read", () => {
  const list = call("TaskList", {}, '{"id":"2","status":"pending","subject":"Second"}');
  expect(workerTurn(plan, "bob", [start, list]).calls).toBeUndefined();
  const told: Step = {
    type: "words",
    from: "user",
    text: '<teammate-message from="alice" type="message">\na is two now\n</teammate-message>',
  };
  expect(workerTurn(plan, "bob", [start, told, list]).calls?.[0]?.input).toMatchObject({ taskId: "2", owner: "bob" });
});

const PROMPT: Step = { type: "words", from: "user", text: "Merge worktree-team-t+bob and worktree-team-t+alice." };
const merge = (name: string, result: string) =>
  call("Bash", { command: `git merge --no-ff -m "merge: ${name}" worktree-team-t+${name}` }, result);
const CONFLICT = "CONFLICT (content): Merge conflict in a.js\nAutomatic merge failed";

function shown(...lines: string[]): Call {
  return call("ReadFile", { path: "a.js" }, lines.map((line, at) => `${String(at + 1).padStart(6)}\t${line}`).join("\n"));
}

test("the integrator merges in the teammates' order and takes no second try", () => {
  expect(integratorTurn(plan, [PROMPT]).calls?.[0]?.input).toEqual(merge("alice", "").input);
  expect(integratorTurn(plan, [PROMPT, merge("alice", "Merge made")]).calls?.[0]?.input).toEqual(merge("bob", "").input);
  expect(integratorTurn(plan, [PROMPT, merge("alice", "Merge made"), merge("bob", "Merge made")]).calls).toBeUndefined();
});

test("without a resolution each conflict block keeps both sides, ours first, without the common ancestor", () => {
  const file = shown("top", "<<<<<<< HEAD", "ours", "||||||| 1234", "base", "=======", "theirs", ">>>>>>> branch", "end");
  const [answer] = integratorTurn(plan, [PROMPT, merge("alice", CONFLICT), file]).calls ?? [];
  expect(answer?.input).toEqual({
    path: "a.js",
    edits: [{ old_string: "<<<<<<< HEAD\nours\n||||||| 1234\nbase\n=======\ntheirs\n>>>>>>> branch", new_string: "ours\ntheirs" }],
  });
});

test("a resolution is cut to the block where the rest of the file agrees, else it replaces the whole", () => {
  const file = shown("top", "<<<<<<< HEAD", "ours", "=======", "theirs", ">>>>>>> branch", "end");
  const steps = [PROMPT, merge("alice", CONFLICT), file];
  const inside = readPlan({ ...PLAN, resolutions: { "a.js": "top\nboth\nend\n" } });
  expect(integratorTurn(inside, steps).calls?.[0]?.input).toMatchObject({ old_string: expect.stringMatching(/^<<<</), new_string: "both" });
  const whole = readPlan({ ...PLAN, resolutions: { "a.js": "other\n" } });
  expect(integratorTurn(whole, steps).calls?.[0]?.input).toMatchObject({
    old_string: expect.stringMatching(/^top\n/),
    new_string: "other",
  });
});

test("a resolved file is added by name and committed before the next branch", () => {
  const steps: Step[] = [PROMPT, merge("alice", CONFLICT), shown("x"), call("EditFile", { path: "a.js" }, "Edited a.js.")];
  const add = { command: "git add a.js" };
  const commit = { command: 'git commit -m "merge(alice): resolve conflict"' };
  expect(integratorTurn(plan, steps).calls?.[0]?.input).toEqual(add);
  expect(integratorTurn(plan, [...steps, call("Bash", add, "")]).calls?.[0]?.input).toEqual(commit);
  expect(integratorTurn(plan, [...steps, call("Bash", add, ""), call("Bash", commit, "")]).calls?.[0]?.input).toEqual(
    merge("bob", "").input,
  );
});

test.each(["<system-reminder>", '<teammate-message from="bob">'])("a line of JSON is read though %s stands right behind it", (tag) => {
  expect(jsonLines(`{"id":"4","status":"completed"}\n{"id":"5","status":"pending"}${tag}\nmore`)).toEqual([
    { id: "4", status: "completed" },
    { id: "5", status: "pending" },
  ]);
});
