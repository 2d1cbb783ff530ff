import { expect, test } from "vitest";
import type { AgentState, MemberStatus } from "../../src/protocol/team.ts";
import { createMemoryTeam } from "../../src/team/bus/memory.ts";
import { claimPatch } from "../../src/team/task-rules.ts";
import { UnreachableWatch } from "../../src/team/unreachable-watch.ts";
import { sampleTeam } from "./bus/sample-team.ts";

const alice = (status: MemberStatus): AgentState[] => [{ name: "alice", status, at: "" }];

test("a member that is suspended for long is told once, with what it holds and how another gets that, and again the next time", async () => {
  const { tasks } = createMemoryTeam(sampleTeam("alice")).open({ name: "lead", epoch: 1 });
  const task = await tasks.create({ subject: "Write a", description: "", blockedBy: [] });
  await tasks.update(task.id, 1, claimPatch(task, "alice", { pid: 1, startedAt: "" }));
  const clock = { now: 0 };
  const watch = new UnreachableWatch(30_000, () => clock.now);
  const look = async (status: MemberStatus, now: number) => {
    clock.now = now;
    return watch.look(alice(status), await tasks.list());
  };
  expect(await look("unreachable", 0)).toEqual([]);
  expect(await look("unreachable", 29_000)).toEqual([]);
  const [told = ""] = await look("unreachable", 31_000);
  expect(told).toContain("alice has not run for 31 s");
  expect(told).toContain("It holds 1 (Write a), which nobody can take while its process is there.");
  expect(await look("unreachable", 90_000)).toEqual([]);
  expect(await look("busy", 91_000)).toEqual([]);
  expect(await look("unreachable", 92_000)).toEqual([]);
  expect(await look("unreachable", 123_000)).toHaveLength(1);
});
