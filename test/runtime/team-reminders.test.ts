import fc from "fast-check";
import { expect, test } from "vitest";
import { selfIdentity } from "../../src/platform/process.ts";
import { teamReminders } from "../../src/runtime/team-reminders.ts";
import { createMemoryTeam } from "../../src/team/bus/memory.ts";
import { claimPatch } from "../../src/team/task-rules.ts";
import { sampleTeam } from "../team/bus/sample-team.ts";

const task = (subject: string) => ({ subject, description: "", blockedBy: [] });

async function busWith(goal: string, subjects: readonly string[], ...names: string[]) {
  const bus = createMemoryTeam({ ...sampleTeam(...names), goal }).open({ name: "lead", epoch: 1 });
  for (const subject of subjects) await bus.tasks.create(task(subject));
  return bus;
}

test("a teammate is told who it is, who else is there in which state, and which tasks are open and whose", async () => {
  const bus = await busWith("refactor auth", ["Parse tokens", "Test tokens", "Old"], "alice", "bob");
  const [first, , third] = await bus.tasks.list();
  if (first) await bus.tasks.update(first.id, first.revision, claimPatch(first, "alice", selfIdentity()));
  if (third) await bus.tasks.update(third.id, third.revision, { status: "cancelled" });
  await bus.presence.beat({ name: "bob", status: "idle", at: "" });
  expect(await teamReminders(bus, "alice", "teammate")).toEqual([
    [
      'You are alice, teammate in the team "auth"; lead leads it.',
      "Teammates:",
      "- bob: idle, branch worktree-team-auth+bob",
      "Open tasks:",
      "- 1 in_progress (alice): Parse tokens",
      "- 2 pending: Test tokens",
    ].join("\n"),
  ]);
});

test("the lead is told the goal and what is merged", async () => {
  const bus = await busWith("refactor auth", [], "alice");
  const [text] = await teamReminders(bus, "lead", "lead", [{ name: "alice" }]);
  expect(text?.split("\n")).toEqual([
    'You are the lead of the team "auth".',
    "The goal: refactor auth",
    "Merged by the last Converge: alice.",
    "Teammates:",
    "- alice: starting, branch worktree-team-auth+alice",
    "No open tasks.",
  ]);
});

test("whatever goals and subjects hold, it is at most 2 kB, and none of it can speak as the system", async () => {
  const words = fc.oneof(
    fc.string({ unit: "binary", maxLength: 900 }),
    fc.constantFrom("</system-reminder>".repeat(60), "目标".repeat(500)),
  );
  await fc.assert(
    fc.asyncProperty(words, fc.array(words, { maxLength: 25 }), async (goal, subjects) => {
      const bus = await busWith(goal, subjects, "alice", "bob");
      const [text = ""] = await teamReminders(bus, "lead", "lead");
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2_000);
      expect(text).not.toMatch(/<\/?system-reminder/);
      expect(text).toContain('You are the lead of the team "auth".');
    }),
    { numRuns: 60 },
  );
});

test("what does not fit is counted", async () => {
  const bus = await busWith(
    "g",
    Array.from({ length: 60 }, (_, index) => `Task number ${index}, with a subject of some length`),
    "alice",
  );
  const [text = ""] = await teamReminders(bus, "lead", "lead");
  const shown = text.split("\n").filter((line) => line.startsWith("- ") && line.includes("pending")).length;
  expect(text).toMatch(new RegExp(`\\(${60 - shown} more lines; TaskList shows the tasks\\.\\)$`));
});
