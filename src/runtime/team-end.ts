import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isAlive } from "../platform/process.ts";
import { stopTree } from "../platform/process-tree.ts";
import type { PaneBackend, TeamBus } from "../protocol/team.ts";

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
  return forced;
}

/** After a clean end the team's record leaves the working place; the plain name is free again. */
export async function fileAway(teamFolder: string, doneFolder: string, name: string): Promise<string> {
  const date = new Date().toISOString().slice(0, 19).replaceAll(":", "");
  const target = join(doneFolder, `${name}-${date}`);
  await mkdir(doneFolder, { recursive: true, mode: 0o700 });
  await rename(teamFolder, target);
  return target;
}
