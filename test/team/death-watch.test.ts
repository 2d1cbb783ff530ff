import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { isSuspended, processStart } from "../../src/platform/process.ts";
import { DeathWatch } from "../../src/team/death-watch.ts";
import { UnreachableWatch } from "../../src/team/unreachable-watch.ts";
import { eventually } from "../support/eventually.ts";
import { fileTeam } from "./bus/file/file-team.ts";

test.each([
  ["with nobody at a terminal it is ended after a while, by the signal that a worker takes as a request to stop", 60_000, "SIGTERM"],
  ["with a person who can let it go on it stays", undefined, undefined],
])("a member that is suspended: %s", async (_what, endSuspendedMs, ending) => {
  await using team = await fileTeam("alice");
  const child = spawn("sleep", ["100"], { detached: true, stdio: "ignore" });
  const ended = once(child, "exit");
  try {
    const pid = child.pid ?? 0;
    const process = { pid, startedAt: processStart(pid) ?? "" };
    const alice = await team.open("alice", 1, process);
    await alice.presence.beat({ name: "alice", status: "busy", at: "" });
    const lead = await team.open("lead");
    await lead.roster.update((now) => ({ ...now, members: now.members.map((member) => ({ ...member, process })) }));
    child.kill("SIGSTOP");
    await eventually(() => isSuspended(pid));
    const clock = { now: 0 };
    const unreachable = new UnreachableWatch(30_000, () => clock.now);
    const watch = new DeathWatch(
      lead,
      async () => undefined,
      () => undefined,
      { unreachable, endSuspendedMs },
    );
    await watch.look();
    clock.now = 59_000;
    expect(await watch.look()).toEqual([expect.stringContaining("alice has not run for 59 s")]);
    expect(child.signalCode).toBe(null);
    clock.now = 61_000;
    expect(await watch.look()).toEqual(ending === undefined ? [] : [expect.stringContaining("it was ended. A message to alice starts it")]);
    if (ending !== undefined) expect((await ended)[1]).toBe(ending);
    expect(child.signalCode).toBe(ending ?? null);
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
});
