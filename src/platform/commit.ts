import { UserError } from "../protocol/errors.ts";
import { GitError, git, gitText } from "./git.ts";
import { removeLeftLocks } from "./left-locks.ts";
import { wholeLfsFiles } from "./lfs.ts";
import { strayRepositories } from "./submodules.ts";
import { type WorktreeEntry, type WorktreeState, worktreeState } from "./worktree-state.ts";

export type CommitRequest = {
  subject: string;
  trailers?: Readonly<Record<string, string>>;
  /** Only while HEAD is on it: what a model did to its HEAD must not put a commit of ours on somebody else's branch. */
  branch?: string;
  /** Commits nothing when something would have to stay behind: throws a UserError that names it. */
  mustTakeAll?: boolean;
};

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
    if (error instanceof UserError || (error instanceof GitError && !error.message.includes(".lock': File exists"))) throw error;
    await removeLeftLocks(worktree);
    return commitOnce(worktree, request);
  }
}

async function commitOnce(worktree: string, { subject, trailers = {}, branch, mustTakeAll }: CommitRequest): Promise<string | undefined> {
  const state = await worktreeState(worktree);
  const whole = await wholeLfsFiles(worktree, state.entries.map(pathOf));
  const held = mustTakeAll ? await heldBack(worktree, state, whole, branch) : undefined;
  if (held !== undefined) throw new UserError(held);
  if (branch !== undefined && state.branch !== branch) return undefined;
  if (state.entries.length === 0 || state.entries.some(isUnmerged)) return undefined;
  const nested = state.entries.filter(isRepository).map(({ path }) => path.slice(0, -1));
  // Not the link of ours, nor what was installed in its place; where the repository keeps the folder, its files are files like others.
  const keepsModules = state.entries.some(({ kind, path }) => kind !== "untracked" && path.startsWith("node_modules/"));
  const left = [...whole, ...nested, ...(keepsModules ? [] : ["node_modules"])];
  await gitText(worktree, ["add", "--all", "--sparse", "--", ".", ...left.map((path) => `:(top,exclude,literal)${path}`)]);
  const lines = Object.entries(trailers).map(([key, value]) => `${key}: ${value}`);
  const message = [subject.split("\n")[0]?.slice(0, 200) ?? "", ...(lines.length > 0 ? ["", ...lines] : [])].join("\n");
  const args = ["commit", "--no-verify", "--cleanup=whitespace", "--file=-"];
  const result = await git(worktree, args, { env: await identity(worktree), input: message });
  if (result.exitCode === 0) return gitText(worktree, ["rev-parse", "HEAD"]);
  // What was dirty may all have been left out.
  if ((await git(worktree, ["diff", "--cached", "--quiet"])).exitCode === 0) return undefined;
  throw new GitError(args, result);
}

/** What a commit would leave in the worktree, with the reason; undefined when it would take all. */
export async function notCommittable(worktree: string, branch: string, state?: WorktreeState): Promise<string | undefined> {
  const now = state ?? (await worktreeState(worktree));
  return heldBack(worktree, now, await wholeLfsFiles(worktree, now.entries.map(pathOf)), branch);
}

async function heldBack(
  worktree: string,
  { branch: head, entries }: WorktreeState,
  whole: readonly string[],
  branch: string | undefined,
): Promise<string | undefined> {
  if (branch !== undefined && head !== branch)
    return `the worktree is on ${head ?? "a detached HEAD"}, and only what is on ${branch} is merged. Finish what is under way there, then: git switch ${branch}; bring commits along with git merge or git cherry-pick.`;
  const unmerged = entries.filter(isUnmerged).map(pathOf);
  if (unmerged.length > 0)
    return `${unmerged.join(", ")} ${unmerged.length === 1 ? "is" : "are"} in conflict. Resolve it, git add and git commit; or git merge --abort.`;
  const nested = [...entries.filter(isRepository).map(pathOf), ...(await strayRepositories(worktree)).map((path) => `${path}/`)];
  if (nested.length > 0)
    return `${nested.join(", ")} ${nested.length === 1 ? "is a git repository" : "are git repositories"} of its own, whose files no commit of yours would hold. Remove it, or its .git folder (and git rm --cached it where it was added), or move it out of the worktree.`;
  if (whole.length === 0) return undefined;
  return `${whole.join(", ")} ${whole.length === 1 ? "belongs" : "belong"} in Git LFS, and git-lfs is not set up on this machine, so the change can't be committed. Take it back with git checkout, or tell the lead that git-lfs is needed.`;
}

function pathOf({ path }: WorktreeEntry): string {
  return path;
}

function isUnmerged({ kind }: WorktreeEntry): boolean {
  return kind === "unmerged";
}

/** All files are listed singly, but for what git does not look into. */
function isRepository({ kind, path }: WorktreeEntry): boolean {
  return kind === "untracked" && path.endsWith("/");
}

/** Environment for a commit: empty where the user has an identity, else roocode's. */
export async function identity(worktree: string): Promise<NodeJS.ProcessEnv> {
  const { stdout } = await git(worktree, ["config", "-z", "--get-regexp", "^user\\.(email|name)$"]);
  // The last value of a key counts.
  const set = new Map<string, string>();
  for (const entry of stdout.split("\0")) {
    const [key = "", ...value] = entry.split("\n");
    set.set(key, value.join("\n").trim());
  }
  const isSet = (key: string) => (set.get(key) ?? "") !== "";
  if (isSet("user.email") && isSet("user.name")) return {};
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
