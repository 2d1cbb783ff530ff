import { join } from "node:path";
import { expect, test } from "vitest";
import { isAlive, processStart, selfIdentity } from "../../src/platform/process.ts";
import { LEAD, type TeammateInfo } from "../../src/protocol/team.ts";
import { stopMembers } from "../../src/runtime/team-end.ts";
import { processBackend } from "../../src/team/backends/process.ts";
import { createMemoryTeam } from "../../src/team/bus/memory.ts";
import { claimPatch } from "../../src/team/task-rules.ts";
import { tempFolder } from "../support/temp.ts";
import { sampleMember, sampleTeam } from "../team/bus/sample-team.ts";

test("L04: members that say they will stop and don't, and one that takes no signal either, are gone soon after the grace, with the reason on record and their tasks back", async () => {
  await using folder = await tempFolder("roocode-end");
  const memory = createMemoryTeam(sampleTeam());
  const bus = memory.open({ name: LEAD, epoch: 1 });
  const backend = processBackend({ logFolder: join(folder.path, "log"), untilReady: async () => undefined });
  const start = async (name: string, script: string): Promise<TeammateInfo> => {
    const info = { ...sampleMember(name), worktreePath: folder.path };
    const paneId = await backend.spawn(info, [process.execPath, "-e", script], "");
    const pid = Number(paneId.split("@")[0]);
    return { ...info, paneId, process: { pid, startedAt: processStart(pid) ?? "" } };
  };
  const members = [
    await start("alice", "setInterval(() => console.log('ok, exiting'), 50)"),
    await start("bob", "process.on('SIGTERM', () => undefined); setInterval(() => undefined, 50)"),
  ];
  await bus.roster.update((team) => ({ ...team, members }));
  const [alice] = members;
  const task = await bus.tasks.create({ subject: "Write a", description: "", blockedBy: [] });
  await bus.tasks.update(task.id, 1, claimPatch(task, "alice", alice?.process ?? selfIdentity()));

  const began = Date.now();
  expect(await stopMembers(bus, backend, "the team is done", 200)).toEqual(["alice", "bob"]);
  expect(Date.now() - began).toBeLessThan(200 + 5_000);
  expect(members.map(({ process: one }) => one && isAlive(one))).toEqual([false, false]);
  expect(await bus.presence.list()).toMatchObject([
    { name: "alice", status: "stopped", detail: "the team is done; it did not end by itself and was ended" },
    { name: "bob", status: "stopped" },
  ]);
  expect((await bus.roster.read()).members.map((member) => member.stoppedAt)).toEqual([expect.any(String), expect.any(String)]);
  expect(await bus.tasks.get(task.id)).toMatchObject({ status: "pending", attempts: 2, note: expect.stringContaining("in its worktree") });
});
