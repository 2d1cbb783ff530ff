import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { appendLine } from "../../../src/platform/files.ts";
import { processStart } from "../../../src/platform/process.ts";
import type { TeamStep } from "../../../src/protocol/team.ts";
import { followTeam, isOver } from "../../../src/runtime/team-page/follow-team.ts";
import { recordedTeam } from "../../support/big-team.ts";
import { eventually } from "../../support/eventually.ts";
import { tempFolder } from "../../support/temp.ts";

/** A team whose lead is a process that only waits. */
async function teamWithLead() {
  const folder = await tempFolder();
  const lead = spawn(process.execPath, ["-e", "setInterval(() => undefined, 1000)"]);
  const team = join(folder.path, "team");
  const process_ = { pid: lead.pid ?? 0, startedAt: processStart(lead.pid ?? 0) ?? "" };
  await recordedTeam(team, { team: { lead: { process: process_, permissionMode: "acceptEdits" } } });
  return {
    team,
    log: (event: TeamStep) => appendLine(join(team, "log.jsonl"), { at: new Date().toISOString(), agent: "lead", event }),
    kill: () => lead.kill("SIGKILL"),
    async [Symbol.asyncDispose]() {
      lead.kill("SIGKILL");
      await folder[Symbol.asyncDispose]();
    },
  };
}

function follow(team: string, livenessMs = 60_000) {
  const stop = new AbortController();
  let calls = 0;
  const onChange = async () => {
    calls++;
  };
  return { stop, calls: () => calls, ended: followTeam({ folder: team, onChange, signal: stop.signal, livenessMs }) };
}

test("each change of the log is told, and the end of a run that failed ends it", async () => {
  await using one = await teamWithLead();
  const following = follow(one.team);
  await eventually(() => following.calls() === 1);
  one.log({ type: "idle", name: "alice", reason: "done" });
  await eventually(() => following.calls() === 2);
  expect(await isOver(one.team)).toBe(false);
  one.log({ type: "ended", exitCode: 3, text: "One is left." });
  await following.ended;
  expect(await isOver(one.team)).toBe(true);
});

test("after a run that succeeded it waits for the tidying; a resumed team is not over", async () => {
  await using one = await teamWithLead();
  one.log({ type: "ended", exitCode: 1, text: "" });
  one.log({ type: "backend", kind: "process", reason: "asked for" });
  expect(await isOver(one.team)).toBe(false);
  const following = follow(one.team);
  one.log({ type: "ended", exitCode: 0, text: "" });
  await eventually(() => following.calls() >= 1);
  expect(await isOver(one.team)).toBe(false);
  one.log({ type: "cleaned", removed: [], kept: [] });
  await following.ended;
});

test("nothing is told of a team in which nothing happens; a lead that was killed ends it though it wrote nothing", async () => {
  await using one = await teamWithLead();
  const following = follow(one.team, 50);
  await eventually(() => following.calls() === 1);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(following.calls()).toBe(1);
  one.kill();
  await following.ended;
});

test("it stops by the signal", async () => {
  await using one = await teamWithLead();
  const following = follow(one.team);
  following.stop.abort();
  await following.ended;
});
