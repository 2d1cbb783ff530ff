import * as fc from "fast-check";
import { expect, test } from "vitest";
import { TASK_STATUSES, type TeamTask } from "../../src/protocol/team.ts";
import { memoryTasks } from "../../src/team/bus/memory.ts";
import { changedTask, checkEdges, claimable, claimPatch, newTask, TaskRuleError, unfinishedBlockers } from "../../src/team/task-rules.ts";

const alive = () => true;
const process = { pid: 1, startedAt: "now" };

function task(id: string, more: Partial<TeamTask> = {}): TeamTask {
  return { ...newTask(id, { subject: id, description: "", blockedBy: [] }, []), ...more };
}

test("what a status may become", () => {
  const claim = { owner: "alice", epoch: 1, ...process };
  const table = TASK_STATUSES.map((from) => {
    const before = task("1", { status: from, owner: "alice", ...(from === "pending" ? {} : { claim }) });
    const reached = TASK_STATUSES.filter((status) => {
      const patch = status === "in_progress" && from !== status ? claimPatch(before, "alice", process) : { status, claim: before.claim };
      try {
        changedTask(before, patch, { all: [before], isAlive: () => false });
        return from !== status;
      } catch {
        return false;
      }
    });
    return `${from}: ${reached.join(" ")}`;
  });
  expect(table).toEqual([
    "pending: in_progress failed cancelled",
    "in_progress: pending completed failed cancelled",
    "completed: pending failed",
    "failed: pending in_progress cancelled",
    "cancelled: pending",
  ]);
});

test("a task waits for what is not completed; a cancelled task holds nothing up, a failed one does", () => {
  const all = [
    task("1", { status: "completed" }),
    task("2", { status: "cancelled" }),
    task("3", { status: "failed" }),
    task("4", { blockedBy: ["1", "2"] }),
    task("5", { blockedBy: ["1", "3"] }),
    task("6", { owner: "alice" }),
  ];
  expect(claimable(all).map((one) => one.id)).toEqual(["4"]);
  expect(unfinishedBlockers(task("5", { blockedBy: ["1", "3"] }), all).map((one) => one.id)).toEqual(["3"]);
});

test("a claim for another revision, or without its owner, is refused", () => {
  const free = task("1");
  const facts = { all: [free], isAlive: alive };
  expect(() => changedTask(free, { ...claimPatch(free, "alice", process), owner: "bob" }, facts)).toThrow("only with its owner's claim");
  expect(() => changedTask(free, { status: "in_progress", owner: "alice" }, facts)).toThrow("only with its owner's claim");
  const late = claimPatch({ ...free, revision: 4 }, "alice", process);
  expect(() => changedTask(free, late, facts)).toThrow("was made for another revision");
});

test("giving a task back takes the claim off it", () => {
  const held = task("1", { status: "in_progress", owner: "alice", claim: { owner: "alice", epoch: 1, ...process } });
  expect(changedTask(held, { status: "pending", owner: undefined }, { all: [held], isAlive: alive })).toEqual({
    ...task("1"),
    revision: 2,
  });
});

test("whatever edges are asked for, the list never has a circle", async () => {
  const edge = fc.tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 6 }));
  await fc.assert(
    fc.asyncProperty(fc.array(edge, { maxLength: 30 }), async (edges) => {
      const tasks = memoryTasks();
      for (let id = 1; id <= 6; id++) await tasks.create({ subject: "", description: "", blockedBy: [] });
      for (const [from, to] of edges) {
        const now = await tasks.get(String(from));
        if (!now) throw new Error("the task is there");
        await tasks.update(now.id, now.revision, { blockedBy: [...now.blockedBy, String(to)] }).catch((error) => {
          if (!(error instanceof TaskRuleError)) throw error;
        });
      }
      const all = await tasks.list();
      const done = new Set<string>();
      // A list without a circle can be worked off to its end.
      for (let round = 0; round < 6; round++) for (const one of all) if (one.blockedBy.every((id) => done.has(id))) done.add(one.id);
      expect(done.size).toBe(6);
      for (const one of all) checkEdges(one.id, one.blockedBy, all);
    }),
    { numRuns: 60 },
  );
});

test("a subject is one line, and never empty", () => {
  const facts = { all: [task("1")], isAlive: alive };
  expect(changedTask(task("1"), { subject: " two\n  ● 7 lines " }, facts).subject).toBe("two ● 7 lines");
  expect(() => changedTask(task("1"), { subject: " \n " }, facts)).toThrow("Task 1 needs a subject.");
});
