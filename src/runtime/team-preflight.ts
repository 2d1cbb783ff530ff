import { git } from "../platform/git.ts";
import { UserError } from "../protocol/errors.ts";
import { homeVariable, readOnlyData, type Surroundings } from "./surroundings.ts";

const UNDER_WAY = [
  ["MERGE_HEAD", "merge"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
] as const;

export type TeamGround = {
  /** The user's checkout: where `roocode team` was started. Its branch is what moves at the end. */
  checkout: string;
  /** The checkout that holds `.git`: worktrees are made from there. */
  primary: string;
  baseBranch: string;
  baseCommit: string;
};

/** A repository that a team can work on, or one line that says what is missing and how to mend it. */
export async function teamGround({ cwd, repository, data, env }: Surroundings): Promise<TeamGround> {
  const readOnly = readOnlyData(data.root, homeVariable(env));
  if (readOnly !== undefined) throw new UserError(readOnly);
  const version = await git(cwd, ["--version"]).catch(() => undefined);
  if (!version) throw new UserError("git is not on PATH. A team needs it: install git 2.38 or newer.");
  if (!repository) {
    const bare = await git(cwd, ["rev-parse", "--is-bare-repository"]);
    if (bare.stdout.trim() === "true") throw new UserError(`${cwd} is a bare repository. Clone it and start the team in the clone.`);
    throw new UserError(`${cwd} is not a git repository. A team needs one: git init && git add . && git commit -m "First commit"`);
  }
  const { top, primary, branch } = repository;
  const head = await git(top, ["rev-parse", "--verify", "HEAD^{commit}"]);
  if (head.exitCode !== 0) {
    const folder = await git(top, ["rev-parse", "--git-dir"]);
    if (folder.exitCode !== 0)
      throw new UserError(
        `git can't read ${top}: ${folder.stderr
          .trim()
          .split(/\s*\n\s*/)
          .join(" ")}`,
      );
    throw new UserError(`${top} has no commit yet. Make one first: git add . && git commit -m "First commit"`);
  }
  if (branch === undefined)
    throw new UserError("HEAD is detached, so there is no branch to move at the end. Make one first: git switch -c NAME");
  for (const [ref, name] of UNDER_WAY)
    if ((await git(top, ["rev-parse", "--verify", "--quiet", ref])).exitCode === 0)
      throw new UserError(`A ${name} is under way in this checkout. Finish it (git commit) or end it (git ${name} --abort) first.`);
  return { checkout: top, primary, baseBranch: branch, baseCommit: head.stdout.trim() };
}
