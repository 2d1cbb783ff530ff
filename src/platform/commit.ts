import { UserError } from "../protocol/errors.ts";
import { GitError, git, gitText } from "./git.ts";
import { removeLeftLocks } from "./left-locks.ts";
import { wholeLfsFiles } from "./lfs.ts";

export type CommitRequest = {
  subject: string;
  trailers?: Readonly<Record<string, string>>;
  /** Commits nothing when something would have to stay behind: throws a UserError that names it. */
  mustTakeAll?: boolean;
};

const FALLBACK_NAME = "roocode";
const FALLBACK_EMAIL = "roocode@localhost";

/**
 * Commits all that is dirty in a worktree of ours: tracked and untracked, never ignored, and no file of Git LFS that would go in whole.
 * Gives the commit's id, or undefined when there was nothing. No hooks, no signing; the user's identity, else roocode's.
 */
export async function commitAll(worktree: string, request: CommitRequest): Promise<string | undefined> {
  try {
    return await commitOnce(worktree, request);
  } catch (error) {
    // git says why it fails; one that was killed (no memory, a signal to all) does not, and leaves its locks.
    if (error instanceof GitError) throw error;
    await removeLeftLocks(worktree);
    return commitOnce(worktree, request);
  }
}

async function commitOnce(worktree: string, { subject, trailers = {}, mustTakeAll }: CommitRequest): Promise<string | undefined> {
  const dirty = await dirtyPaths(worktree);
  if (dirty.length === 0) return undefined;
  const whole = await wholeLfsFiles(worktree, dirty);
  if (mustTakeAll && whole.length > 0) throw new UserError(notCommittable(whole));
  const left = whole.map((path) => `:(top,exclude,literal)${path}`);
  await gitText(worktree, ["add", "--all", "--", ".", ":!node_modules", ...left]);
  const lines = Object.entries(trailers).map(([key, value]) => `${key}: ${value}`);
  const message = [subject.split("\n")[0]?.slice(0, 200) ?? "", ...(lines.length > 0 ? ["", ...lines] : [])].join("\n");
  const args = ["commit", "--no-verify", "--file=-"];
  const result = await git(worktree, args, { env: await identity(worktree), input: message });
  if (result.exitCode === 0) return gitText(worktree, ["rev-parse", "HEAD"]);
  // What was dirty may all have been left out.
  if ((await git(worktree, ["diff", "--cached", "--quiet"])).exitCode === 0) return undefined;
  throw new GitError(args, result);
}

function notCommittable(left: readonly string[]): string {
  return `${left.join(", ")} ${left.length === 1 ? "belongs" : "belong"} in Git LFS, and git-lfs is not set up on this machine, so the change can't be committed. Take it back with git checkout, or tell the lead that git-lfs is needed.`;
}

async function dirtyPaths(worktree: string): Promise<string[]> {
  const args = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"];
  const result = await git(worktree, args);
  if (result.exitCode !== 0) throw new GitError(args, result);
  return result.stdout.split("\0").flatMap((entry) => (entry.length > 3 ? [entry.slice(3)] : []));
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
  if (set.has("user.name") && (set.get("user.email") ?? "") !== "") return {};
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
