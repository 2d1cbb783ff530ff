import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { exists } from "../platform/files.ts";
import { gitText } from "../platform/git.ts";
import { removeLeftLocks } from "../platform/left-locks.ts";
import { isAlive } from "../platform/process.ts";
import { UserError } from "../protocol/errors.ts";
import type { PermissionMode } from "../protocol/permission.ts";
import type { BackendKind, PaneBackend, TeamBus, TeamConfig, TeammateInfo, TeamStep } from "../protocol/team.ts";
import { type Boot, writeBoot } from "./boot.ts";
import { makeInbox, teamLayout } from "./bus/file/layout.ts";
import { endLeftCommands } from "./left-commands.ts";
import { badMemberName } from "./member-name.ts";
import { type MemberGround, makeMemberTree, memberTree, restoreMember, undoMember } from "./member-tree.ts";
import { narrower } from "./mode-width.ts";
import { withMember } from "./worker.ts";

const STOPPING_MS = 15_000;

export type SpawnRequest = {
  name: string;
  prompt: string;
  agentType?: string;
  model?: string;
  /** `plan`: it plans first, and goes on in the lead's mode once the plan is approved. */
  permissionMode?: PermissionMode;
  planModeRequired?: true;
};

export type SpawnContext = MemberGround & {
  bus: TeamBus;
  teamFolder: string;
  backend: PaneBackend;
  /** Argument vector of a worker, before `--boot PATH`. */
  command: readonly string[];
  /** What every boot file of this team holds. */
  boot: Pick<Boot, "headless" | "env" | "trust" | "addDirs" | "orphanTimeoutMs">;
  leadMode: PermissionMode;
  onStep: (step: TeamStep) => void;
};

/**
 * A teammate: worktree, roster entry, mailbox, process. It counts only when its worker has reported ready; a failure takes all of
 * it away again. Throws UserError with a text for the model.
 */
export async function spawnTeammate(request: SpawnRequest, context: SpawnContext, signal: AbortSignal): Promise<TeammateInfo> {
  const { bus, primary, backend, teamFolder } = context;
  const { name } = request;
  const team = await bus.roster.read();
  const problem = badMemberName(name, team);
  if (problem) throw new UserError(problem);

  const permissionMode = narrower(request.permissionMode ?? context.leadMode, context.leadMode);
  const baseCommit = await gitText(primary, ["rev-parse", "--verify", `refs/heads/${team.baseBranch}^{commit}`]);
  const tree = await memberTree(name, team.name, context);
  const info: TeammateInfo = {
    name,
    agentId: `${name}@${team.name}`,
    agentType: request.agentType ?? "worker",
    ...(request.model ? { model: request.model } : {}),
    worktreePath: tree.path,
    branch: tree.branch,
    baseCommit,
    backendType: backend.kind,
    epoch: 1,
    planModeRequired: team.plan !== undefined || request.planModeRequired === true || request.permissionMode === "plan",
    permissionMode,
  };
  // Who is in the roster can be written to.
  await makeInbox(teamLayout(teamFolder), name);
  // The roster comes before the worktree: of two spawns of one name, and after a crash in between, one entry tells who owns the folder.
  await bus.roster.update((now) => {
    const taken = badMemberName(name, now);
    if (taken) throw new UserError(taken);
    return { ...now, members: [...now.members, info] };
  });
  // A setup command may take its time, and the member's place is taken meanwhile.
  await bus.presence.beat({ name, status: "starting", at: new Date().toISOString(), detail: "its worktree is made" });
  await makeMemberTree(info, context, signal).catch(async (error: unknown) => {
    await sayFailed(name, context, error);
    throw error;
  });
  try {
    return await start(info, { ...(request.prompt === "" ? {} : { prompt: request.prompt }) }, context);
  } catch (error) {
    await undoMember(info, context);
    throw new UserError(`${name} did not start: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** Starts a member whose process is gone again: same session, same worktree, next epoch. One that `isStopping` is waited for. */
export async function reviveTeammate(name: string, context: SpawnContext, signal: AbortSignal, isStopping = false): Promise<TeammateInfo> {
  const find = async () => {
    const found = (await context.bus.roster.read()).members.find((member) => member.name === name);
    if (!found) throw new UserError(`${name} is not in this team.`);
    return found;
  };
  let known = await find();
  if (await isUp(known, context)) {
    if (!isStopping && known.stoppedAt === undefined) return known;
    await untilGone(known, context);
    known = await find();
  }
  await endLeftCommands(known);
  if (await exists(known.worktreePath)) await removeLeftLocks(known.worktreePath, { stillMs: 0 });
  else await restoreMember(known, context, signal);
  const team = await context.bus.roster.update((now) => ({
    ...now,
    members: now.members.map((member) => (member.name === name ? startedAgain(member, context.backend.kind) : member)),
  }));
  const next = team.members.find((member) => member.name === name) ?? known;
  return start(next, { revivedAt: new Date().toISOString() }, context);
}

function startedAgain(
  { process: _process, paneId: _paneId, stoppedAt: _stoppedAt, ...member }: TeammateInfo,
  backendType: BackendKind,
): TeammateInfo {
  return { ...member, epoch: member.epoch + 1, backendType };
}

/** Of a teammate inside this process the backend knows; any other has a process of its own. */
async function isUp({ backendType, paneId, process }: TeammateInfo, { backend }: SpawnContext): Promise<boolean> {
  if (backendType !== "in-process" || backend.kind !== "in-process") return process !== undefined && isAlive(process);
  return paneId !== undefined && (await backend.state(paneId)).alive;
}

/** It has said that it stops, and reads nothing more; its last steps are short. */
async function untilGone(known: TeammateInfo, context: SpawnContext): Promise<void> {
  const until = Date.now() + STOPPING_MS;
  while (await isUp(known, context)) {
    if (Date.now() > until) throw new UserError(`${known.name} was asked to stop and has not ended yet. Write to it again in a moment.`);
    await sleep(30);
  }
}

async function start(info: TeammateInfo, first: Pick<Boot, "prompt" | "revivedAt">, context: SpawnContext): Promise<TeammateInfo> {
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
  }).catch(async (error: unknown) => {
    // "starting" was said for it, and the lead would wait for it for ever.
    await sayFailed(info.name, context, error);
    throw error;
  });
  const paneId = await backend.spawn(info, [...context.command, "--boot", bootFile], bootFile).catch(async (error: unknown) => {
    // A worker that never came up has not taken it away, and it holds keys.
    await rm(bootFile, { force: true });
    await sayFailed(info.name, context, error);
    throw error;
  });
  context.onStep({ type: "spawned", name: info.name, branch: info.branch, paneId });
  await bus.roster.update((now) => withMember(now, info.name, { paneId }));
  const ready = (await bus.roster.read()).members.find((member) => member.name === info.name);
  if (ready?.process) context.onStep({ type: "ready", name: info.name, pid: ready.process.pid });
  return ready ?? info;
}

/** "starting" was said for it by this process, which lives on. */
async function sayFailed(name: string, { bus }: SpawnContext, error: unknown): Promise<void> {
  const detail = error instanceof Error ? (error.message.split("\n", 1)[0] ?? "") : String(error);
  await bus.presence.beat({ name, status: "failed", at: new Date().toISOString(), detail });
}

/** Its own, else the one that the lead was started with. */
function modelOf(info: TeammateInfo, { lead }: TeamConfig): { model?: string } {
  const model = info.model ?? lead?.model;
  return model === undefined ? {} : { model };
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
