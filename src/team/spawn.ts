import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { exists } from "../platform/files.ts";
import { git, gitText } from "../platform/git.ts";
import { removeLeftLocks } from "../platform/left-locks.ts";
import { isAlive } from "../platform/process.ts";
import { addWorktree, furnishWorktree, removeWorktree, restoreWorktree } from "../platform/worktree.ts";
import { UserError } from "../protocol/errors.ts";
import type { PermissionMode } from "../protocol/permission.ts";
import type { PaneBackend, TeamBus, TeamConfig, TeammateInfo, TeamStep } from "../protocol/team.ts";
import { type Boot, writeBoot } from "./boot.ts";
import { makeInbox, teamLayout } from "./bus/file/layout.ts";
import { endLeftCommands } from "./left-commands.ts";
import { badMemberName, memberBranch } from "./member-name.ts";
import { narrower } from "./mode-width.ts";
import { withMember } from "./worker.ts";

export type SpawnRequest = {
  name: string;
  prompt: string;
  agentType?: string;
  model?: string;
  /** `plan`: it plans first, and goes on in the lead's mode once the plan is approved. */
  permissionMode?: PermissionMode;
};

export type SpawnContext = {
  bus: TeamBus;
  teamFolder: string;
  primary: string;
  /** Worktrees of this team lie here. */
  worktrees: string;
  worktreeLock: string;
  includeFile: string;
  backend: PaneBackend;
  /** Argument vector of a worker, before `--boot PATH`. */
  command: readonly string[];
  /** What every boot file of this team holds. */
  boot: Pick<Boot, "headless" | "env" | "trust" | "addDirs" | "orphanTimeoutMs">;
  leadMode: PermissionMode;
  onStep: (step: TeamStep) => void;
  /** A member's worktree was made, or made again. */
  onWorktree?: (member: TeammateInfo) => Promise<void>;
  onNote: (text: string) => void;
};

/**
 * A teammate: worktree, roster entry, mailbox, process. It counts only when its worker has reported ready; a failure takes all of
 * it away again. Throws UserError with a text for the model.
 */
export async function spawnTeammate(request: SpawnRequest, context: SpawnContext): Promise<TeammateInfo> {
  const { bus, primary, backend, teamFolder } = context;
  const { name } = request;
  const team = await bus.roster.read();
  const problem = badMemberName(name, team);
  if (problem) throw new UserError(problem);

  const permissionMode = narrower(request.permissionMode ?? context.leadMode, context.leadMode);
  const baseCommit = await gitText(primary, ["rev-parse", "--verify", `refs/heads/${team.baseBranch}^{commit}`]);
  const info: TeammateInfo = {
    name,
    agentId: `${name}@${team.name}`,
    agentType: request.agentType ?? "worker",
    ...(request.model ? { model: request.model } : {}),
    worktreePath: join(context.worktrees, name),
    branch: memberBranch(team.name, name),
    baseCommit,
    backendType: backend.kind,
    epoch: 1,
    planModeRequired: team.plan !== undefined || request.permissionMode === "plan",
    permissionMode,
  };
  // The roster comes first: of two spawns of one name, and after a crash in between, one entry tells who owns the folder.
  await bus.roster.update((now) => {
    const taken = badMemberName(name, now);
    if (taken) throw new UserError(taken);
    return { ...now, members: [...now.members, info] };
  });
  try {
    await makeInbox(teamLayout(teamFolder), name);
    await addWorktree({ primary, path: info.worktreePath, branch: info.branch, commit: baseCommit, lockPath: context.worktreeLock });
    for (const note of await furnishWorktree(primary, info.worktreePath, context.includeFile)) context.onNote(note);
    await context.onWorktree?.(info);
  } catch (error) {
    await dropMember(name, context);
    throw new UserError(`${name} could not get a worktree: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  try {
    return await start(info, { ...(request.prompt === "" ? {} : { prompt: request.prompt }) }, context);
  } catch (error) {
    await removeWorktree(primary, info.worktreePath, context.worktreeLock);
    await git(primary, ["branch", "-D", info.branch]);
    await dropMember(name, context);
    throw new UserError(`${name} did not start: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** Starts a member whose process is gone again: same session, same worktree, next epoch. */
export async function reviveTeammate(name: string, context: SpawnContext): Promise<TeammateInfo> {
  const { bus, primary } = context;
  const known = (await bus.roster.read()).members.find((member) => member.name === name);
  if (!known) throw new UserError(`${name} is not in this team.`);
  if (known.process && isAlive(known.process)) return known;
  await endLeftCommands(known);
  if (await exists(known.worktreePath)) await removeLeftLocks(known.worktreePath, { stillMs: 0 });
  else {
    await restoreWorktree({ primary, path: known.worktreePath, branch: known.branch, lockPath: context.worktreeLock });
    await furnishWorktree(primary, known.worktreePath, context.includeFile);
    await context.onWorktree?.(known);
  }
  const next: TeammateInfo = { ...known, epoch: known.epoch + 1, backendType: context.backend.kind };
  delete next.process;
  delete next.paneId;
  delete next.stoppedAt;
  await bus.roster.update((team) => ({ ...team, members: team.members.map((member) => (member.name === name ? next : member)) }));
  return start(next, {}, context);
}

async function start(info: TeammateInfo, first: { prompt?: string }, context: SpawnContext): Promise<TeammateInfo> {
  const { bus, backend, teamFolder } = context;
  const team = await bus.roster.read();
  await bus.presence.beat({ name: info.name, status: "starting", at: new Date().toISOString() });
  const bootFile = await writeBoot(teamFolder, {
    ...context.boot,
    version: 1,
    team: team.name,
    teamFolder,
    name: info.name,
    epoch: info.epoch,
    ...first,
    ...modelOf(info, team),
    permissionMode: info.permissionMode,
  });
  const paneId = await backend.spawn(info, [...context.command, "--boot", bootFile], bootFile).catch(async (error: unknown) => {
    // A worker that never came up has not taken it away, and it holds keys.
    await rm(bootFile, { force: true });
    // "starting" was said for it by this process, which lives on.
    const detail = error instanceof Error ? (error.message.split("\n", 1)[0] ?? "") : String(error);
    await bus.presence.beat({ name: info.name, status: "failed", at: new Date().toISOString(), detail });
    throw error;
  });
  context.onStep({ type: "spawned", name: info.name, branch: info.branch, paneId });
  await bus.roster.update((now) => withMember(now, info.name, { paneId }));
  const ready = (await bus.roster.read()).members.find((member) => member.name === info.name);
  if (ready?.process) context.onStep({ type: "ready", name: info.name, pid: ready.process.pid });
  return ready ?? info;
}

/** Its own, else the one that the lead was started with. */
function modelOf(info: TeammateInfo, { lead }: TeamConfig): { model?: string } {
  const model = info.model ?? lead?.model;
  return model === undefined ? {} : { model };
}

async function dropMember(name: string, { bus }: SpawnContext): Promise<void> {
  await bus.roster.update((team) => ({ ...team, members: team.members.filter((member) => member.name !== name) }));
}

/** Resolves once the worker wrote itself into the roster; rejects when it is late or `isGone` says how it ended. */
export async function untilReady(
  info: Pick<TeammateInfo, "name" | "epoch">,
  bus: Pick<TeamBus, "roster">,
  isGone: () => Promise<string | undefined>,
  timeoutMs: number,
): Promise<void> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    const member = (await bus.roster.read()).members.find((one) => one.name === info.name);
    if (member?.process && member.epoch === info.epoch) return;
    const how = await isGone();
    if (how !== undefined) throw new Error(how);
    if (Date.now() > until) throw new Error(`it did not report ready within ${timeoutMs} ms`);
    await sleep(30);
  }
}
