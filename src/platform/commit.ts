import { GitError, git, gitText } from "./git.ts";
import { removeLeftLocks } from "./left-locks.ts";
import { wholeLfsFiles } from "./lfs.ts";
import { strayRepositories } from "./submodules.ts";

/** With `branch` only while HEAD is on it: what a model did to its HEAD must not put a commit of ours on somebody else's branch. */
export type CommitRequest = { subject: string; trailers?: Readonly<Record<string, string>>; branch?: string };

const FALLBACK_NAME = "roocode";
const FALLBACK_EMAIL = "roocode@localhost";

/**
 * Commits all that is dirty in a worktree of ours: tracked and untracked, never ignored, no file of Git LFS that would go in whole, no
 * repository of its own, and nothing in the midst of a merge with conflicts.
 * Gives the commit's id, or undefined when there was nothing. No hooks, no signing; the user's identity, else roocode's.
 */
export async function commitAll(worktree: string, request: CommitRequest): Promise<string | undefined> {
  try {
    return await commitOnce(worktree, request);
  } catch (error) {
    // git says why it fails; one that was killed (no memory, a signal to all) does not, and leaves its locks. A member's own may have been, too.
    if (error instanceof GitError && !error.message.includes(".lock': File exists")) throw error;
    await removeLeftLocks(worktree);
    return commitOnce(worktree, request);
  }
}

async function commitOnce(worktree: string, { subject, trailers = {}, branch }: CommitRequest): Promise<string | undefined> {
  if (branch !== undefined && (await headOf(worktree)) !== `refs/heads/${branch}`) return undefined;
  const dirty = await dirtyEntries(worktree);
  if (dirty.length === 0 || dirty.some(isUnmerged)) return undefined;
  const whole = await wholeLfsFiles(worktree, dirty.map(pathOf));
  const nested = dirty.filter(isRepository).map(({ path }) => path.slice(0, -1));
  // Not the link of ours, nor what was installed in its place; where the repository keeps the folder, its files are files like others.
  const keepsModules = dirty.some(({ code, path }) => code !== "??" && path.startsWith("node_modules/"));
  const left = [...whole, ...nested, ...(keepsModules ? [] : ["node_modules"])];
  await gitText(worktree, ["add", "--all", "--sparse", "--", ".", ...left.map((path) => `:(top,exclude,literal)${path}`)]);
  const staged = await git(worktree, ["diff", "--cached", "--quiet"]);
  if (staged.exitCode === 0) return undefined;
  const lines = Object.entries(trailers).map(([key, value]) => `${key}: ${value}`);
  const message = [subject.split("\n")[0]?.slice(0, 200) ?? "", ...(lines.length > 0 ? ["", ...lines] : [])].join("\n");
  await gitText(worktree, ["commit", "--no-verify", "--cleanup=whitespace", "--file=-"], { env: await identity(worktree), input: message });
  return gitText(worktree, ["rev-parse", "HEAD"]);
}

/** What a commit would leave in the worktree, with the reason; undefined when it would take all. */
export async function notCommittable(worktree: string, branch: string): Promise<string | undefined> {
  const head = await headOf(worktree);
  if (head !== `refs/heads/${branch}`)
    return `the worktree is on ${head.replace("refs/heads/", "") || "a detached HEAD"}, and only what is on ${branch} is merged. Finish what is under way there, then: git switch ${branch}; bring commits along with git merge or git cherry-pick.`;
  const dirty = await dirtyEntries(worktree);
  const unmerged = dirty.filter(isUnmerged).map(pathOf);
  if (unmerged.length > 0)
    return `${unmerged.join(", ")} ${unmerged.length === 1 ? "is" : "are"} in conflict. Resolve it, git add and git commit; or git merge --abort.`;
  const nested = [...dirty.filter(isRepository).map(pathOf), ...(await strayRepositories(worktree)).map((path) => `${path}/`)];
  if (nested.length > 0)
    return `${nested.join(", ")} ${nested.length === 1 ? "is a git repository" : "are git repositories"} of its own, whose files no commit of yours would hold. Remove it, or its .git folder (and git rm --cached it where it was added), or move it out of the worktree.`;
  const left = await wholeLfsFiles(worktree, dirty.map(pathOf));
  if (left.length === 0) return undefined;
  return `${left.join(", ")} ${left.length === 1 ? "belongs" : "belong"} in Git LFS, and git-lfs is not set up on this machine, so the change can't be committed. Take it back with git checkout, or tell the lead that git-lfs is needed.`;
}

/** Empty where it is detached. */
async function headOf(worktree: string): Promise<string> {
  return (await git(worktree, ["symbolic-ref", "--quiet", "HEAD"])).stdout.trim();
}

/** Two letters of git's status, and the path. */
type Entry = { code: string; path: string };

async function dirtyEntries(worktree: string): Promise<Entry[]> {
  const args = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"];
  const result = await git(worktree, args);
  if (result.exitCode !== 0) throw new GitError(args, result);
  return result.stdout.split("\0").flatMap((entry) => (entry.length > 3 ? [{ code: entry.slice(0, 2), path: entry.slice(3) }] : []));
}

function pathOf({ path }: Entry): string {
  return path;
}

function isUnmerged({ code }: Entry): boolean {
  return code.includes("U") || code === "AA" || code === "DD";
}

/** All files are listed singly, but for what git does not look into. */
function isRepository({ code, path }: Entry): boolean {
  return code === "??" && path.endsWith("/");
}

/** Environment for a commit: empty where the user has an identity, else roocode's. */
export async function identity(worktree: string): Promise<NodeJS.ProcessEnv> {
  const email = await git(worktree, ["config", "user.email"]);
  const name = await git(worktree, ["config", "user.name"]);
  if (email.stdout.trim() !== "" && name.stdout.trim() !== "") return {};
  return {
    GIT_AUTHOR_NAME: FALLBACK_NAME,
    GIT_AUTHOR_EMAIL: FALLBACK_EMAIL,
    GIT_COMMITTER_NAME: FALLBACK_NAME,
    GIT_COMMITTER_EMAIL: FALLBACK_EMAIL,
  };
}

/** Ids of the commits on HEAD that `base` has not, oldest first. */
export async function commitsSince(worktree: string, base: string): Promise<string[]> {
  const text = await gitText(worktree, ["rev-list", "--reverse", `${base}..HEAD`]);
  return text === "" ? [] : text.split("\n");
}
