import { join } from "node:path";
import { exists } from "../platform/files.ts";
import { git } from "../platform/git.ts";
import { removeLeftLocks } from "../platform/left-locks.ts";
import type { Roster, TeammateInfo } from "../protocol/team.ts";
import { endLeftCommands } from "../team/left-commands.ts";
import { dismantleWorktree, type WorktreeNeeds } from "../team/worktree-needs.ts";

type Ground = { teamFolder: string; primary: string; worktreeLock: string; needs: WorktreeNeeds };

/** Members whose lead was ended between roster entry and first report: nobody ever worked there. */
export async function halfMembers(roster: Roster, ground: Ground): Promise<TeammateInfo[]> {
  const half: TeammateInfo[] = [];
  for (const member of (await roster.read()).members) if (await isHalf(member, ground)) half.push(member);
  return half;
}

/** Their names are free again, and what of worktree and branch was made goes. Gives their names. */
export async function dropHalfMembers(roster: Roster, ground: Ground): Promise<string[]> {
  const half = await halfMembers(roster, ground);
  if (half.length === 0) return [];
  for (const { branch, worktreePath } of half) {
    // A setup command may run still.
    await endLeftCommands({ worktreePath });
    // What its teardown command says is of no use to anyone: nobody worked there.
    await dismantleWorktree({ primary: ground.primary, path: worktreePath, needs: ground.needs }, ground.worktreeLock);
    await removeLeftLocks(ground.primary, { branch, stillMs: 0 });
    await git(ground.primary, ["branch", "-D", branch]);
  }
  const names = half.map((member) => member.name);
  await roster.update((team) => ({ ...team, members: team.members.filter((member) => !names.includes(member.name)) }));
  return names;
}

/** No process, no session, and a branch that never moved. */
async function isHalf({ name, epoch, process, branch, baseCommit }: TeammateInfo, { teamFolder, primary }: Ground): Promise<boolean> {
  if (process !== undefined || epoch !== 1) return false;
  if (await exists(join(teamFolder, "sessions", `${name}.jsonl`))) return false;
  const tip = await git(primary, ["rev-parse", "--verify", "--quiet", `refs/heads/${branch}^{commit}`]);
  return tip.exitCode !== 0 || tip.stdout.trim() === baseCommit;
}
