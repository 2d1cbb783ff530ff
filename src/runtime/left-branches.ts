import { exists } from "../platform/files.ts";
import { git } from "../platform/git.ts";
import type { TeamConfig } from "../protocol/team.ts";
import { quoted } from "../team/converge/land.ts";

/** What lies on each member's branch, with the commands to look at it, to merge it and to drop it. */
export async function leftBranches({ name: team, members, baseBranch, repoRoot }: TeamConfig): Promise<string> {
  const call = `git -C ${quoted(repoRoot)}`;
  const lines = await Promise.all(
    members.map(async ({ name, branch, worktreePath }) => {
      const count = await git(repoRoot, ["rev-list", "--count", `refs/heads/${baseBranch}..refs/heads/${branch}`]);
      const commits = Number(count.stdout.trim());
      const where = `${branch}${(await exists(worktreePath)) ? `, worktree ${worktreePath}` : ""}`;
      if (count.exitCode !== 0) return [`${name}: its branch ${branch} is gone.`];
      if (commits === 0) return [`${name}: nothing on ${where} that ${baseBranch} has not.`];
      return [
        `${name}: ${commits} ${commits === 1 ? "commit" : "commits"} on ${where}`,
        `  see it:   ${call} diff ${quoted(baseBranch)}...${quoted(branch)}`,
        `  merge it: ${call} merge --no-ff ${quoted(branch)}`,
      ];
    }),
  );
  if (members.length === 0) return "";
  return [
    ...lines.flat(),
    `Remove what is merged by then: roocode team clean ${team}. Drop the rest too (rescue refs keep it for 30 days): roocode team clean --force ${team}`,
  ].join("\n");
}
