import { realpath, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { exists, isErrno } from "../platform/files.ts";
import { git, gitText } from "../platform/git.ts";
import { isAlive } from "../platform/process.ts";
import { forgetLinkedModules } from "../platform/worktree.ts";
import { UserError } from "../protocol/errors.ts";
import type { TeamBus, TeamConfig, TeammateInfo } from "../protocol/team.ts";
import { pruneRescued, rescueCommit, rescueRef, rescueWorktree, unsavedIn } from "./rescue.ts";
import { dismantleWorktree, type WorktreeNeeds } from "./worktree-needs.ts";

/** Folder of the integration worktree, beside those of the members: no member can have this name. */
export const INTEGRATION = ".integration";

export type CleanOptions = {
  bus: TeamBus;
  primary: string;
  checkout: string;
  /** The folder of this team's worktrees. */
  worktrees: string;
  worktreeLock: string;
  needs: WorktreeNeeds;
  /** Takes away what is not merged too; all of it stays in a rescue ref. */
  force?: boolean;
};
export type Cleaned = { removed: string[]; kept: string[]; text: string };

/** Removes what the team owns and what is proven to be saved elsewhere. Throws a UserError while a member is active. */
export async function cleanTeam(options: CleanOptions): Promise<Cleaned> {
  const { bus, primary, worktrees, worktreeLock, needs, force = false } = options;
  const team = await bus.roster.read();
  refuseActive(team);
  await pruneRescued(primary);
  const removed: string[] = [];
  const kept: string[] = [];
  const lines: string[] = [];
  for (const member of team.members) {
    const result = await cleanMember(member, { ...options, force, team: team.name, baseBranch: team.baseBranch });
    (result.isKept ? kept : removed).push(member.name);
    lines.push(`${member.name}: ${result.text}`);
  }
  const integration = join(worktrees, INTEGRATION);
  if (kept.length === 0 && (await exists(integration))) {
    const text = await saveIntegration(integration, primary, team.name, team.baseBranch);
    if (text !== undefined) lines.push(text);
    lines.push(...(await dismantleWorktree({ primary, path: integration, needs }, worktreeLock)));
  }
  if (kept.length === 0) await dropEmptyFolders(worktrees);
  if (!(await hasLinkedModules(primary))) await forgetLinkedModules(primary);
  return { removed, kept, text: lines.length > 0 ? lines.join("\n") : "There was nothing to tidy away." };
}

export function refuseActive({ name, members }: Pick<TeamConfig, "name" | "members">): void {
  const active = members.filter(isActive).map((member) => member.name);
  if (active.length > 0)
    throw new UserError(`${active.join(", ")} ${active.length === 1 ? "is" : "are"} still running. Stop first: roocode team stop ${name}`);
}

/** A process that was told to stop and says so does not count: inside the lead it is the lead's own. */
function isActive(member: TeammateInfo): boolean {
  return member.process !== undefined && isAlive(member.process) && member.stoppedAt === undefined;
}

type MemberGround = CleanOptions & { force: boolean; team: string; baseBranch: string };

async function cleanMember(
  { name, branch, worktreePath }: TeammateInfo,
  { primary, worktreeLock, needs, force, team, baseBranch }: MemberGround,
): Promise<{ isKept: boolean; text: string }> {
  const ref = rescueRef(team, name);
  const hasFolder = await exists(worktreePath);
  const unsaved = hasFolder ? await unsavedIn(worktreePath, primary) : [];
  const tip = (await git(primary, ["rev-parse", "--verify", "--quiet", `refs/heads/${branch}^{commit}`])).stdout.trim();
  const isMerged = tip === "" || (await isIn(primary, tip, `refs/heads/${baseBranch}`));
  const head = hasFolder ? await headOf(worktreePath) : await lastHeadOf(primary, worktreePath);
  const isHeadSaved = head === undefined || (await isIn(primary, head, `refs/heads/${baseBranch}`)) || (await isIn(primary, head, tip));
  const nested = unsaved.find((path) => path.endsWith("/"));
  if (nested !== undefined)
    return {
      isKept: true,
      text: `kept, since ${nested} in ${worktreePath} is a repository of its own with work that nothing else has. Push or move that away first.`,
    };
  const rescued = unsaved.length > 0 ? await rescueWorktree(worktreePath, ref, unsaved) : undefined;
  const reasons = [
    ...(unsaved.length > 0 ? [`its worktree holds what is in no commit (${few(unsaved)})`] : []),
    ...(isMerged ? [] : [`${branch} is not merged into ${baseBranch}`]),
    ...(isHeadSaved ? [] : [`its worktree is at ${head?.slice(0, 10)}, which is not on ${branch}`]),
  ];
  if (reasons.length > 0 && !force) {
    const see = [
      ...(isMerged ? [] : [`See it: git log ${baseBranch}..${branch}`]),
      ...(rescued === undefined ? [] : [`Also saved in ${rescued}. See it: git show --stat ${rescued}`]),
      `Work on in: ${hasFolder ? worktreePath : branch}`,
      `Take it away all the same: roocode team clean --force ${team}`,
    ];
    return { isKept: true, text: `kept, since ${reasons.join(" and ")}. ${see.join(". ")}.` };
  }
  const elsewhere = tip === "" ? undefined : await checkedOutAt(primary, branch, worktreePath);
  if (elsewhere !== undefined) return { isKept: true, text: `kept, since ${branch} is checked out in ${elsewhere}.` };
  if (rescued === undefined) await rescueCommit(primary, ref, head);
  const saved = tip === "" ? rescued : (rescued ?? (await rescueCommit(primary, ref, tip)));
  // A HEAD of its own (another branch, or detached) leaves the branch's tip to be saved beside it.
  if (rescued !== undefined && tip !== "") await rescueCommit(primary, ref, tip);
  const notes = await dismantleWorktree({ primary, path: worktreePath, needs }, worktreeLock);
  const noted = notes.map((note) => `\n${note}`).join("");
  if (tip !== "") await gitText(primary, ["branch", "-D", "--", branch]);
  if (saved === undefined) return { isKept: false, text: `nothing was left of it.${noted}` };
  return {
    isKept: false,
    text: `removed. For 30 days: git log ${saved}; bring it back: git branch NAME ${saved}; drop it: git update-ref -d ${saved}${noted}`,
  };
}

function few(names: readonly string[]): string {
  return names.length > 5 ? `${names.slice(0, 5).join(", ")} and ${names.length - 5} more` : names.join(", ");
}

async function isIn(repository: string, commit: string, other: string): Promise<boolean> {
  return other !== "" && (await git(repository, ["merge-base", "--is-ancestor", commit, other])).exitCode === 0;
}

async function headOf(worktree: string): Promise<string | undefined> {
  const head = await git(worktree, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  return head.exitCode === 0 ? head.stdout.trim() : undefined;
}

/** Of a worktree the folder of which is gone; git forgets it with the next prune. */
async function lastHeadOf(primary: string, path: string): Promise<string | undefined> {
  const { stdout } = await git(primary, ["worktree", "list", "--porcelain", "-z"]);
  const real = join(await realpath(dirname(path)).catch(() => dirname(path)), basename(path));
  for (const record of stdout.split("\0\0")) {
    const lines = record.split("\0");
    if (!lines.includes(`worktree ${path}`) && !lines.includes(`worktree ${real}`)) continue;
    const head = lines.find((line) => line.startsWith("HEAD "))?.slice("HEAD ".length);
    if (head !== undefined && (await git(primary, ["cat-file", "-e", `${head}^{commit}`])).exitCode === 0) return head;
  }
  return undefined;
}

async function checkedOutAt(primary: string, branch: string, own: string): Promise<string | undefined> {
  const { stdout } = await git(primary, ["worktree", "list", "--porcelain", "-z"]);
  const ownPath = await realpath(own).catch(() => own);
  for (const record of stdout.split("\0\0")) {
    const lines = record.split("\0");
    const path = lines.find((line) => line.startsWith("worktree "))?.slice("worktree ".length);
    if (path === undefined || !lines.includes(`branch refs/heads/${branch}`)) continue;
    if ((await realpath(path).catch(() => path)) !== ownPath) return path;
  }
  return undefined;
}

/** Merges that never reached the user's branch hold a model's resolutions. */
async function saveIntegration(path: string, primary: string, team: string, baseBranch: string): Promise<string | undefined> {
  const accepted = await git(path, ["rev-parse", "--verify", "--quiet", "refs/worktree/roocode-accepted^{commit}"]);
  if (accepted.exitCode !== 0) return undefined;
  const commit = accepted.stdout.trim();
  if (await isIn(primary, commit, `refs/heads/${baseBranch}`)) return undefined;
  const ref = await rescueCommit(primary, rescueRef(team, "+integration"), commit);
  return ref && `The merges that did not reach ${baseBranch} are kept for 30 days: git log ${ref}`;
}

/** Another team's worktrees may need the line that hides the link. */
async function hasLinkedModules(primary: string): Promise<boolean> {
  const { stdout } = await git(primary, ["worktree", "list", "--porcelain", "-z"]);
  const paths = stdout.split("\0").flatMap((line) => (line.startsWith("worktree ") ? [line.slice("worktree ".length)] : []));
  for (const path of paths) if (path !== primary && (await exists(join(path, "node_modules")))) return true;
  return false;
}

async function dropEmptyFolders(worktrees: string): Promise<void> {
  for (const folder of [worktrees, dirname(worktrees)]) {
    try {
      await rmdir(folder);
    } catch (error) {
      if (isErrno(error, "ENOENT")) continue;
      if (isErrno(error, "ENOTEMPTY", "EEXIST")) return;
      throw error;
    }
  }
}
