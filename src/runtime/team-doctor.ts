import { chmod, lstat, readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { exists, isErrno } from "../platform/files.ts";
import { git } from "../platform/git.ts";
import { isAlive } from "../platform/process.ts";
import { primaryAt } from "../platform/repository.ts";
import { LEAD, type TeamBus, type TeamConfig, type TeammateInfo } from "../protocol/team.ts";
import { teamLayout } from "../team/bus/file/layout.ts";
import { openTeamBus } from "../team/bus/team-bus.ts";
import { endLeftCommands } from "../team/left-commands.ts";
import { restoreMember } from "../team/member-tree.ts";
import { releaseDead } from "../team/release-dead.ts";
import type { WorktreeNeeds } from "../team/worktree-needs.ts";
import { type Check, fail, ok, warn } from "./doctor/check.ts";
import { dropHalfMembers, halfMembers } from "./half-members.ts";
import { readSurroundings, type Surroundings } from "./surroundings.ts";
import { integrationPath } from "./team-backend.ts";
import { worktreeLock } from "./worktree-lock.ts";
import { worktreeNeeds } from "./worktree-needs.ts";

/** A fault; `fix` mends it and says what it did. Without one a person must decide, and `mend` tells how. */
type Finding = { check: Check; fix?: () => Promise<string> };
type Ground = {
  surroundings: Surroundings;
  folder: string;
  bus: TeamBus;
  team: TeamConfig;
  primary: string;
  isLed: boolean;
  needs: WorktreeNeeds;
};

/** What is wrong with a team's state on disk; with `fix`, what can be mended without losing anything is. */
export async function examineTeam(surroundings: Surroundings, folder: string, fix: boolean): Promise<Check[]> {
  await using bus = await openTeamBus({ teamFolder: folder, self: { name: LEAD, epoch: 1 } });
  const team = await bus.roster.read();
  const primary = primaryAt(team.repoRoot);
  if (primary === undefined)
    return [
      fail(team.name, `its repository ${team.repoRoot} is gone.`, `Its record is in ${folder}; remove that when you need nothing of it.`),
    ];
  const isLed = team.lead !== undefined && isAlive(team.lead.process);
  const needs = await worktreeNeeds(await readSurroundings(primary, surroundings.env, surroundings.flags));
  const ground: Ground = { surroundings, folder, bus, team, primary, isLed, needs };
  const found = (
    await Promise.all([
      leadGone(ground),
      openFolder(ground),
      leftBoots(ground),
      half(ground),
      members(ground),
      tasks(ground),
      badMail(ground),
    ])
  ).flat();
  if (found.length === 0) return [ok(team.name, isLed ? "it runs, and nothing is wrong with it." : "nothing is wrong with it.")];
  const checks: Check[] = [];
  for (const { check, fix: mend } of found) checks.push(fix && mend ? ok(check.name, `${check.text} ${await mend()}`) : check);
  return checks;
}

const MENDABLE = "Mended by --fix.";

async function leadGone({ team, isLed, bus }: Ground): Promise<Finding[]> {
  const lead = (await bus.presence.list()).find(({ name }) => name === LEAD);
  if (isLed || lead?.status === "stopped") return [];
  const mend = `Go on with it: roocode team resume ${team.name}; or tidy it away: roocode team clean ${team.name}`;
  return [{ check: warn(team.name, "its lead is gone.", mend) }];
}

/** Others could read mail and keys. */
async function openFolder({ team, folder }: Ground): Promise<Finding[]> {
  const { mode } = await stat(folder);
  if ((mode & 0o077) === 0) return [];
  const fix = async () => {
    await chmod(folder, 0o700);
    return "Closed.";
  };
  return [{ check: warn(team.name, `its folder is open to other users (mode ${(mode & 0o777).toString(8)}).`, MENDABLE), fix }];
}

/** A worker takes its file away as it starts: what lies there holds keys for nobody. */
async function leftBoots({ team, folder }: Ground): Promise<Finding[]> {
  const { boot } = teamLayout(folder);
  const names = await readdir(boot).catch((error: unknown) => {
    if (isErrno(error, "ENOENT")) return [];
    throw error;
  });
  const left: string[] = [];
  for (const name of names) if (Date.now() - (await lstat(join(boot, name))).mtimeMs > BOOT_MS) left.push(name);
  if (left.length === 0) return [];
  const fix = async () => {
    for (const name of left) await rm(join(boot, name), { force: true, recursive: true });
    return "Removed.";
  };
  return [{ check: warn(team.name, `${left.length} start files with keys were never taken.`, MENDABLE), fix }];
}
const BOOT_MS = 60_000;

async function half(ground: Ground): Promise<Finding[]> {
  const { team, bus, folder, primary, surroundings, isLed, needs } = ground;
  if (isLed) return [];
  const place = { teamFolder: folder, primary, worktreeLock: worktreeLock(surroundings, primary), needs };
  const names = (await halfMembers(bus.roster, place)).map(({ name }) => name);
  if (names.length === 0) return [];
  const fix = async () => `Dropped: ${(await dropHalfMembers(bus.roster, place)).join(", ")}; the names are free.`;
  return [{ check: warn(team.name, `never came to life: ${names.join(", ")}.`, MENDABLE), fix }];
}

async function members(ground: Ground): Promise<Finding[]> {
  return (await Promise.all(ground.team.members.map((member) => memberFindings(member, ground)))).flat();
}

async function memberFindings(member: TeammateInfo, { team, bus, primary, surroundings, isLed, needs }: Ground): Promise<Finding[]> {
  const { name, worktreePath, branch, process, stoppedAt } = member;
  const found: Finding[] = [];
  const isGone = process !== undefined && stoppedAt === undefined && !isAlive(process);
  if (isGone && !isLed)
    found.push({
      check: warn(`${team.name}/${name}`, "its process is gone though nobody stopped it.", "A resumed lead starts it again by a message."),
      fix: async () => {
        await endLeftCommands(member);
        return "What its commands left running is ended.";
      },
    });
  if (process !== undefined && !(await exists(worktreePath))) {
    const tip = await git(primary, ["rev-parse", "--verify", "--quiet", `refs/heads/${branch}`]);
    const text = `its worktree ${worktreePath} is gone.`;
    if (tip.exitCode !== 0) found.push({ check: fail(`${team.name}/${name}`, `${text} Its branch ${branch} is too.`, rescued(branch)) });
    else
      found.push({
        check: warn(`${team.name}/${name}`, text, MENDABLE),
        fix: async () => {
          const notes: string[] = [];
          const place = {
            bus,
            primary,
            worktrees: dirname(worktreePath),
            worktreeLock: worktreeLock(surroundings, primary),
            needs,
            onNote: (note: string) => notes.push(note),
          };
          await restoreMember(member, place, new AbortController().signal);
          return [`Made again from ${branch}.`, ...notes].join(" ");
        },
      });
  }
  return found;
}

function rescued(branch: string): string {
  return `Look for a rescue ref: git for-each-ref refs/roocode/rescue; git reflog knows ${branch} for a while, too.`;
}

/** A led team gives tasks of the dead back by itself. */
async function tasks({ team, bus, isLed, surroundings, primary }: Ground): Promise<Finding[]> {
  if (isLed) return [];
  const living = (owner: string) => {
    const process = team.members.find(({ name }) => name === owner)?.process;
    return process !== undefined && isAlive(process);
  };
  const held = (await bus.tasks.list()).filter(({ status, claim }) => status === "in_progress" && claim && !living(claim.owner));
  const found: Finding[] = [];
  if (held.length > 0)
    found.push({
      check: warn(team.name, `in progress by nobody who lives: ${held.map(({ id }) => `task ${id}`).join(", ")}.`, MENDABLE),
      fix: async () => {
        const back = await releaseDead(bus.tasks, (claim) => living(claim.owner));
        return `Back on the list: ${back.map(({ id }) => id).join(", ")}.`;
      },
    });
  const path = integrationPath(surroundings, primary, team.name);
  if (await exists(path))
    found.push({ check: warn(team.name, `a Converge was cut off; its worktree is ${path}.`, "The next Converge begins anew by itself.") });
  return found;
}

async function badMail({ team, folder }: Ground): Promise<Finding[]> {
  const layout = teamLayout(folder);
  const found: Finding[] = [];
  for (const name of [LEAD, ...team.members.map((member) => member.name)]) {
    const names = await readdir(layout.inbox(name, "bad")).catch((error: unknown) => {
      if (isErrno(error, "ENOENT")) return [];
      throw error;
    });
    if (names.length === 0) continue;
    const text = `${names.length} messages were set aside, unread, in ${layout.inbox(name, "bad")}.`;
    found.push({ check: warn(`${team.name}/${name}`, text, `Why: roocode team log ${team.name}`) });
  }
  return found;
}
