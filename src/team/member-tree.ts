import { join } from "node:path";
import { isAncestor } from "../platform/ancestry.ts";
import { checkoutsOf, lastHeadOf } from "../platform/checkouts.ts";
import { git } from "../platform/git.ts";
import { addWorktree, freeTree, restoreWorktree } from "../platform/worktree.ts";
import { UserError } from "../protocol/errors.ts";
import type { TeamBus, TeammateInfo } from "../protocol/team.ts";
import { memberBranch } from "./member-name.ts";
import { rescueCommit, rescueRef } from "./rescue.ts";
import { withMember } from "./worker.ts";
import { dismantleWorktree, equipWorktree, type Place, type WorktreeNeeds } from "./worktree-needs.ts";

export type MemberGround = {
  bus: Pick<TeamBus, "roster">;
  primary: string;
  /** Worktrees of this team lie here. */
  worktrees: string;
  worktreeLock: string;
  needs: WorktreeNeeds;
  /** A member's worktree was made, or made again. */
  onWorktree?: (member: TeammateInfo) => Promise<void>;
  onNote: (text: string) => void;
};

/** Branch and folder for a new member. What somebody else has by that name is never taken up: it may hold their work. */
export async function memberTree(
  name: string,
  team: string,
  { primary, worktrees, onNote }: MemberGround,
): Promise<{ branch: string; path: string }> {
  const wanted = { branch: memberBranch(team, name), path: join(worktrees, name) };
  const tree = await freeTree(primary, wanted.branch, wanted.path);
  if (tree.branch !== wanted.branch)
    onNote(`${name} works on ${tree.branch}, since ${wanted.branch} or ${wanted.path} is there already; that stays as it is.`);
  return tree;
}

/** The worktree of a member that is in the roster already, or a UserError and nothing left of it, in the roster neither. */
export async function makeMemberTree(info: TeammateInfo, ground: MemberGround, signal: AbortSignal): Promise<void> {
  const { name, worktreePath: path, branch, baseCommit: commit } = info;
  const failed = (error: unknown) => new UserError(`${name} could not get a worktree: ${text(error)}`, { cause: error });
  try {
    await addWorktree({ primary: ground.primary, path, branch, commit, lockPath: ground.worktreeLock });
  } catch (error) {
    // It has taken away what it made; what lies at that place now is not ours.
    await dropMember(name, ground);
    throw failed(error);
  }
  try {
    await equipMember(info, ground, signal);
  } catch (error) {
    await undoMember(info, ground);
    throw failed(error);
  }
}

/** The worktree of a member whose folder is gone, from its branch. */
export async function restoreMember(known: TeammateInfo, ground: MemberGround, signal: AbortSignal): Promise<void> {
  const { name, worktreePath: path, branch } = known;
  try {
    await keepLastHead(known, ground);
    await restoreWorktree({ primary: ground.primary, path, branch, lockPath: ground.worktreeLock });
    await equipMember(known, ground, signal);
  } catch (error) {
    // Its commits are on the branch; the next try begins anew, with the setup.
    for (const note of await dismantleWorktree(placeOf(known, ground), ground.worktreeLock)) ground.onNote(note);
    throw new UserError(`The worktree of ${name} could not be made again from ${branch}: ${text(error)}`, { cause: error });
  }
}

/** Commits that it made beside its branch: only the record of the worktree that is gone holds them. */
async function keepLastHead({ name, worktreePath, branch }: TeammateInfo, { bus, primary, onNote }: MemberGround): Promise<void> {
  const head = await lastHeadOf(primary, await checkoutsOf(primary), worktreePath);
  if (head === undefined || (await isAncestor(primary, head, `refs/heads/${branch}`))) return;
  const { name: team, baseBranch } = await bus.roster.read();
  if (await isAncestor(primary, head, `refs/heads/${baseBranch}`)) return;
  const ref = await rescueCommit(primary, rescueRef(team, name), head);
  onNote(`${name}: its worktree was at ${head.slice(0, 10)}, which is not on ${branch}. For 30 days: git log ${ref}`);
}

async function equipMember(info: TeammateInfo, ground: MemberGround, signal: AbortSignal): Promise<void> {
  if (ground.needs.setup !== undefined) ground.onNote(`${info.name}: its worktree is set up: ${ground.needs.setup}`);
  const { ports, notes } = await equipWorktree(placeOf(info, ground), signal);
  for (const note of notes) ground.onNote(`${info.name}: ${note}`);
  await ground.bus.roster.update((now) => withMember(now, info.name, { ports }));
  await ground.onWorktree?.(info);
}

/** Nobody ever worked there. */
export async function undoMember(info: TeammateInfo, ground: MemberGround): Promise<void> {
  for (const note of await dismantleWorktree(placeOf(info, ground), ground.worktreeLock)) ground.onNote(note);
  await git(ground.primary, ["branch", "-D", info.branch]);
  await dropMember(info.name, ground);
}

async function dropMember(name: string, { bus }: MemberGround): Promise<void> {
  await bus.roster.update((team) => ({ ...team, members: team.members.filter((member) => member.name !== name) }));
}

function placeOf({ worktreePath }: TeammateInfo, { primary, needs }: MemberGround): Place {
  return { primary, path: worktreePath, needs };
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
