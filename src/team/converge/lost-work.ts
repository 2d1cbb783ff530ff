import { isAncestor, tipsOf } from "../../platform/ancestry.ts";
import { git, gitText } from "../../platform/git.ts";
import type { TeamBus, TeammateInfo } from "../../protocol/team.ts";
import { rescueCommit, rescueRef } from "../rescue.ts";
import { previewMerge } from "./preview.ts";
import type { UnmergedMember } from "./report.ts";

/**
 * Commits with which a task was completed and that no branch has any more (a reset, a branch that was moved). They are kept in a
 * rescue ref; those whose work is not in the branch in another form, as after a rebase or an amend, are named.
 */
export async function lostWork(
  bus: TeamBus,
  { primary, team, start }: { primary: string; team: string; start: string },
  members: readonly TeammateInfo[],
): Promise<UnmergedMember[]> {
  const lost: UnmergedMember[] = [];
  const tips = await tipsOf(
    primary,
    members.map(({ branch }) => branch),
  );
  for (const { id, subject, owner, status, commit } of await bus.tasks.list()) {
    const member = members.find(({ name }) => name === owner);
    if (!member || status !== "completed" || commit === undefined) continue;
    if (tips.get(member.branch) === commit) continue;
    const branch = `refs/heads/${member.branch}`;
    if ((await isAncestor(primary, commit, branch)) || (await isAncestor(primary, commit, start))) continue;
    const kept = await keep(primary, team, member.name, commit);
    if (kept !== undefined && (await holds(primary, branch, start, commit))) continue;
    const where = kept === undefined ? " That commit is gone." : "";
    const reason = `task ${id} (${subject}) was completed with ${commit.slice(0, 10)}, which is not on ${member.branch} any more.${where}`;
    lost.push({ name: member.name, branch: kept ?? member.branch, kind: "left", reason });
  }
  return lost;
}

/** The rescue ref that has it now; undefined when there is no such commit any more. */
export async function keep(primary: string, team: string, name: string, commit: string): Promise<string | undefined> {
  const known = await git(primary, ["cat-file", "-e", `${commit}^{commit}`]);
  return known.exitCode === 0 ? rescueCommit(primary, rescueRef(team, name), commit) : undefined;
}

/** To merge it in would change nothing, or would meet other work on the same lines. */
async function holds(primary: string, branch: string, start: string, commit: string): Promise<boolean> {
  const tip = (await git(primary, ["rev-parse", "--verify", "--quiet", `${branch}^{commit}`])).stdout.trim();
  const into = tip === "" ? start : tip;
  const { tree, conflicts } = await previewMerge(primary, into, commit);
  return conflicts.length > 0 || tree === (await gitText(primary, ["rev-parse", `${into}^{tree}`]));
}
