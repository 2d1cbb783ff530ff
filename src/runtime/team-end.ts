import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isAlive } from "../platform/process.ts";
import { stopTree } from "../platform/process-tree.ts";
import type { PaneBackend, TeamBus } from "../protocol/team.ts";
import { settleOnFiles } from "../team/bus/team-bus.ts";
import { releaseDead } from "../team/release-dead.ts";
import { withMember } from "../team/worker.ts";

const GRACE_MS = 15_000;

/** Asks every living member to stop, waits, ends what did not; their work is committed by then. Names those that had to be ended. */
export async function stopMembers(bus: TeamBus, backend: PaneBackend, reason: string, graceMs = GRACE_MS): Promise<string[]> {
  const forced: string[] = [];
  const { members } = await bus.roster.read();
  const living = members.filter((member) => member.process && isAlive(member.process) && member.stoppedAt === undefined);
  for (const member of living) {
    await bus.mailbox.send(member.name, { type: "shutdown_request", text: reason }).catch(() => {
      // The disk is full, or the box is gone. A worker takes the signal as the same request; one in this process is ended below.
      if (member.process && member.backendType !== "in-process") process.kill(member.process.pid, "SIGTERM");
    });
  }
  const until = Date.now() + graceMs;
  for (const member of members) {
    const isUp = async () => {
      if (member.backendType !== "in-process") return member.process !== undefined && isAlive(member.process);
      return member.paneId !== undefined && (await backend.state(member.paneId)).alive;
    };
    while (living.includes(member) && (await isUp()) && Date.now() < until) await sleep(50);
    if (living.includes(member) && (await isUp())) forced.push(member.name);
    // A pane outlives its process; who joined by hand has none.
    if (member.paneId !== undefined) await backend.kill(member.paneId);
    else if (member.process && (await isUp())) await stopTree(member.process.pid);
  }
  // A full disk must not keep the end from being told.
  for (const name of forced) await recordForced(bus, name, reason).catch(() => undefined);
  return forced;
}

/** It could not say so itself: that it was stopped, why, and where the work of its tasks lies. */
async function recordForced(bus: TeamBus, name: string, reason: string): Promise<void> {
  const at = new Date().toISOString();
  const detail = `${reason}; it did not end by itself and was ended`;
  await bus.roster.update((team) => withMember(team, name, { isActive: false, stoppedAt: at }));
  await releaseDead(
    bus.tasks,
    (claim) => claim.owner !== name,
    async () => "It did not follow its shutdown_request and was ended; what it did is in its worktree.",
  );
  await bus.presence.beat({ name, status: "stopped", at, detail });
}

/** After a clean end the team's record leaves the working place; the plain name is free again. */
export async function fileAway(teamFolder: string, doneFolder: string, name: string): Promise<string> {
  await settleOnFiles(teamFolder);
  const date = new Date().toISOString().slice(0, 19).replaceAll(":", "");
  const target = join(doneFolder, `${name}-${date}`);
  await mkdir(doneFolder, { recursive: true, mode: 0o700 });
  await rename(teamFolder, target);
  return target;
}
