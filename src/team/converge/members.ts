import { setTimeout as sleep } from "node:timers/promises";
import { isAncestor, notIn, tipsOf } from "../../platform/ancestry.ts";
import { commitAll, notCommittable } from "../../platform/commit.ts";
import { exists } from "../../platform/files.ts";
import { GitError } from "../../platform/git.ts";
import { worktreeState } from "../../platform/worktree-state.ts";
import { RevisionConflict } from "../../protocol/errors.ts";
import { LEAD, type MemberStatus, type TeamBus, type TeammateInfo, type TeamStep, type TeamTask } from "../../protocol/team.ts";
import type { Candidate } from "./guard.ts";
import type { MergedMember, UnmergedMember } from "./report.ts";

const ACTIVE: readonly MemberStatus[] = ["starting", "busy", "waiting", "unreachable"];

/** Waits a while for members that are at work; names those that still are. */
export async function stillActive(bus: TeamBus, members: readonly TeammateInfo[], waitMs: number, signal: AbortSignal): Promise<string[]> {
  const until = Date.now() + waitMs;
  for (;;) {
    const states = (await bus.presence.list()).filter((state) => state.name !== LEAD && ACTIVE.includes(state.status));
    const active = members.filter((member) => states.some((state) => state.name === member.name)).map((member) => member.name);
    if (active.length === 0 || Date.now() >= until || signal.aborted) return active;
    await sleep(100);
  }
}

export type Sorted = {
  /** In the roster's order. */
  candidates: Candidate[];
  /** Commits that the user's branch has already. */
  landed: MergedMember[];
  left: UnmergedMember[];
};

/** Saves what members left in their worktrees, then says whose branch has something to merge. */
export async function sortMembers(primary: string, start: string, members: readonly TeammateInfo[]): Promise<Sorted> {
  const sorted: Sorted = { candidates: [], landed: [], left: [] };
  const saved: TeammateInfo[] = [];
  for (const member of members) {
    const { name, branch, worktreePath } = member;
    const problem = await saveLeftOver(name, branch, worktreePath);
    if (problem === undefined) saved.push(member);
    else sorted.left.push({ name, branch, kind: "left", reason: problem });
  }
  const tips = await tipsOf(
    primary,
    saved.map(({ branch }) => branch),
  );
  const missing = await notIn(primary, [...tips.values()], start);
  for (const { name, branch, baseCommit } of saved) {
    const tip = tips.get(branch);
    if (tip === undefined || tip === baseCommit) continue;
    if (missing.has(tip)) sorted.candidates.push({ name, branch, tip });
    else if (!(await isAncestor(primary, tip, baseCommit))) sorted.landed.push({ name, branch, commit: tip });
  }
  return sorted;
}

/** Who had nothing to merge as it began, and was woken by a message since. `tips` are those of now, `missing` those that were not accepted. */
export function startedMeanwhile(
  members: readonly TeammateInfo[],
  tips: ReadonlyMap<string, string>,
  missing: ReadonlySet<string>,
): UnmergedMember[] {
  return members.flatMap(({ name, branch, baseCommit }): UnmergedMember[] => {
    const tip = tips.get(branch);
    if (tip === undefined || tip === baseCommit || !missing.has(tip)) return [];
    return [{ name, branch, kind: "left", reason: "its commits came after Converge had begun; converge again." }];
  });
}

/** A sentence when there is something that can't be saved as it stands. */
async function saveLeftOver(name: string, branch: string, worktree: string): Promise<string | undefined> {
  if (!(await exists(worktree))) return undefined;
  const state = await worktreeState(worktree).catch((error: unknown) => {
    if (error instanceof GitError) return `its worktree ${worktree} can't be read: ${error.result.stderr.trim().slice(0, 300)}`;
    throw error;
  });
  if (typeof state === "string") return state;
  if (state.branch !== branch) {
    const isOnBranch = await isAncestor(worktree, "HEAD", `refs/heads/${branch}`);
    if (state.entries.length === 0 && isOnBranch) return undefined;
    return `its worktree ${worktree} is not on its branch but on ${state.branch ?? "a detached HEAD"}; what is there must be brought to ${branch} first`;
  }
  if (state.entries.some(({ kind }) => kind === "unmerged")) return `its worktree ${worktree} is in the middle of a merge with conflicts`;
  const isClean = state.entries.length === 0;
  if (!isClean) {
    const trailers = { "RooCode-Saved-By": "converge" };
    const problem = await commitAll(worktree, { subject: `wip: changes that ${name} left uncommitted`, branch, trailers }).then(
      () => undefined,
      (error: unknown) => {
        if (!(error instanceof GitError)) throw error;
        return `what is in its worktree ${worktree} can't be committed: ${error.message}`;
      },
    );
    if (problem !== undefined) return problem;
  }
  const held = await notCommittable(worktree, branch, isClean ? state : undefined);
  return held === undefined ? undefined : `its worktree ${worktree} holds what no commit can take: ${held}`;
}

/** What is in no merge is not completed, whatever its owner said. */
export async function reopenTasks(
  bus: TeamBus,
  unmerged: readonly UnmergedMember[],
  isMerged: (commit: string) => Promise<boolean>,
  onStep: (step: TeamStep) => void,
): Promise<void> {
  for (const member of unmerged) {
    const own = (await bus.tasks.list()).filter((task) => task.owner === member.name && task.status === "completed" && !task.noChange);
    for (const task of own) {
      if (task.commit !== undefined && (await isMerged(task.commit))) continue;
      const now = await reopen(bus, task, `Not merged (${member.kind}): ${firstLine(member.reason)} The work is on ${member.branch}.`);
      if (now) onStep({ type: "task", id: now.id, status: now.status, subject: now.subject, ...(now.owner ? { owner: now.owner } : {}) });
    }
  }
}

async function reopen(bus: TeamBus, task: TeamTask, note: string): Promise<TeamTask | undefined> {
  try {
    return await bus.tasks.update(task.id, task.revision, {
      status: "pending",
      claim: undefined,
      attempts: task.attempts + 1,
      note: task.note === undefined ? note : `${task.note}\n${note}`,
    });
  } catch (error) {
    // Someone took it up again meanwhile: it is not completed any more.
    if (error instanceof RevisionConflict) return undefined;
    throw error;
  }
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
