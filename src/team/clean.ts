import { realpath, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isAncestor, notIn, tipsOf } from "../platform/ancestry.ts";
import { type Checkout, checkoutsOf, lastHeadOf } from "../platform/checkouts.ts";
import { exists, isErrno } from "../platform/files.ts";
import { git } from "../platform/git.ts";
import { isAlive } from "../platform/process.ts";
import { forgetLinkedModules } from "../platform/worktree.ts";
import { UserError } from "../protocol/errors.ts";
import type { TeamBus, TeamConfig, TeammateInfo } from "../protocol/team.ts";
import { pruneRescued, rescueCommit, rescueRef, rescueWorktree, type Unsaved, unsavedIn } from "./rescue.ts";
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
  const ground = { ...options, force, team: team.name, baseBranch: team.baseBranch, ...(await branchesNow(primary, team)) };
  const results: (MemberResult & { name: string })[] = [];
  for (const member of team.members) results.push({ name: member.name, ...(await cleanMember(member, ground)) });
  const doomed = results.flatMap(({ doomed: one }) => one ?? []);
  const stays = await dropBranches(primary, doomed, force ? undefined : team.baseBranch);
  for (const { name, isKept, doomed: one, text } of results) {
    const reason = one && stays.get(one.branch);
    (isKept || reason !== undefined ? kept : removed).push(name);
    lines.push(`${name}: ${reason === undefined ? text : `kept, since ${reason}. Work on in: ${one?.branch}.`}`);
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

type BranchesNow = { tips: Map<string, string>; isMerged: (commit: string) => Promise<boolean>; checkouts: Checkout[] };
type MemberGround = CleanOptions & BranchesNow & { force: boolean; team: string; baseBranch: string };
type DoomedBranch = { branch: string; tip: string };
/** `doomed`: its branch, which is saved elsewhere; it goes last of all. */
type MemberResult = { isKept: boolean; text: string; doomed?: DoomedBranch };

/** What one git says of all members; what lies in a worktree is asked when its turn comes, and a branch's tip again before it goes. */
async function branchesNow(primary: string, { members, baseBranch }: TeamConfig): Promise<BranchesNow> {
  const tips = await tipsOf(
    primary,
    members.map(({ branch }) => branch),
  );
  const known = new Set(tips.values());
  const missing = await notIn(primary, [...known], `refs/heads/${baseBranch}`);
  const isMerged = async (commit: string) =>
    known.has(commit) ? !missing.has(commit) : isAncestor(primary, commit, `refs/heads/${baseBranch}`);
  return { tips, isMerged, checkouts: await checkoutsOf(primary) };
}

async function cleanMember(
  { name, branch, worktreePath }: TeammateInfo,
  { primary, worktreeLock, needs, force, team, baseBranch, tips, isMerged: isInBase, checkouts }: MemberGround,
): Promise<MemberResult> {
  const ref = rescueRef(team, name);
  const hasFolder = await exists(worktreePath);
  const found: Unsaved = hasFolder
    ? await unsavedIn(worktreePath, primary)
    : { head: await lastHeadOf(primary, checkouts, worktreePath), branch: undefined, unsaved: [] };
  const { head, unsaved } = found;
  const tip = found.branch === branch ? head : tips.get(branch);
  const isMerged = tip === undefined || (await isInBase(tip));
  const isHeadSaved =
    head === undefined || head === tip || (await isInBase(head)) || (tip !== undefined && (await isAncestor(primary, head, tip)));
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
  const elsewhere = tip === undefined ? undefined : await checkedOutAt(checkouts, branch, worktreePath);
  if (elsewhere !== undefined) return { isKept: true, text: `kept, since ${branch} is checked out in ${elsewhere}.` };
  // A HEAD of its own (another branch, or detached) leaves the branch's tip to be saved beside it.
  if (rescued === undefined && head !== undefined && head !== tip) await rescueCommit(primary, ref, head);
  const savedTip = tip && (await rescueCommit(primary, ref, tip));
  const saved = rescued ?? savedTip;
  const notes = await dismantleWorktree({ primary, path: worktreePath, needs }, worktreeLock);
  const noted = notes.map((note) => `\n${note}`).join("");
  if (saved === undefined) return { isKept: false, text: `nothing was left of it.${noted}` };
  return {
    isKept: false,
    ...(tip === undefined ? {} : { doomed: { branch, tip } }),
    text: `removed. For 30 days: git log ${saved}; bring it back: git branch NAME ${saved}; drop it: git update-ref -d ${saved}${noted}`,
  };
}

function few(names: readonly string[]): string {
  return names.length > 5 ? `${names.slice(0, 5).join(", ")} and ${names.length - 5} more` : names.join(", ");
}

/** All by one git, and only those that are still at the saved tip and, unless forced, in the base. Gives why others stay. */
async function dropBranches(primary: string, doomed: readonly DoomedBranch[], base: string | undefined): Promise<Map<string, string>> {
  const stays = new Map<string, string>();
  const now = await tipsOf(
    primary,
    doomed.map(({ branch }) => branch),
  );
  const missing =
    base === undefined
      ? new Set()
      : await notIn(
          primary,
          doomed.map(({ tip }) => tip),
          `refs/heads/${base}`,
        );
  const going: string[] = [];
  for (const { branch, tip } of doomed) {
    if (!now.has(branch)) continue;
    if (now.get(branch) !== tip) stays.set(branch, `${branch} was moved meanwhile`);
    else if (missing.has(tip)) stays.set(branch, `${branch} is not in ${base} any more`);
    else going.push(branch);
  }
  if (going.length === 0) return stays;
  const { exitCode, stderr } = await git(primary, ["branch", "-D", "--", ...going]);
  if (exitCode !== 0)
    for (const branch of (await tipsOf(primary, going)).keys()) stays.set(branch, `git does not delete ${branch} (${stderr.trim()})`);
  return stays;
}

async function checkedOutAt(checkouts: readonly Checkout[], branch: string, own: string): Promise<string | undefined> {
  const ownPath = await realpath(own).catch(() => own);
  for (const { path, branch: other } of checkouts)
    if (other === branch && (await realpath(path).catch(() => path)) !== ownPath) return path;
  return undefined;
}

/** Merges that never reached the user's branch hold a model's resolutions. */
async function saveIntegration(path: string, primary: string, team: string, baseBranch: string): Promise<string | undefined> {
  const accepted = await git(path, ["rev-parse", "--verify", "--quiet", "refs/worktree/roocode-accepted^{commit}"]);
  if (accepted.exitCode !== 0) return undefined;
  const commit = accepted.stdout.trim();
  if (await isAncestor(primary, commit, `refs/heads/${baseBranch}`)) return undefined;
  const ref = await rescueCommit(primary, rescueRef(team, "+integration"), commit);
  return `The merges that did not reach ${baseBranch} are kept for 30 days: git log ${ref}`;
}

/** Another team's worktrees may need the line that hides the link. */
async function hasLinkedModules(primary: string): Promise<boolean> {
  for (const { path } of await checkoutsOf(primary)) if (path !== primary && (await exists(join(path, "node_modules")))) return true;
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
