import { GitError, git, gitText } from "./git.ts";
import { removeLeftLocks } from "./left-locks.ts";

export type CommitRequest = { subject: string; trailers?: Readonly<Record<string, string>> };

const FALLBACK_NAME = "roocode";
const FALLBACK_EMAIL = "roocode@localhost";

/**
 * Commits all that is dirty in a worktree of ours: tracked and untracked, never ignored. Gives the commit's id, or undefined
 * when there was nothing. No hooks, no signing; the user's identity, else roocode's.
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

async function commitOnce(worktree: string, { subject, trailers = {} }: CommitRequest): Promise<string | undefined> {
  const dirty = await gitText(worktree, ["status", "--porcelain", "--untracked-files=all"]);
  if (dirty === "") return undefined;
  await gitText(worktree, ["add", "--all", "--", ".", ":!node_modules"]);
  const staged = await git(worktree, ["diff", "--cached", "--quiet"]);
  if (staged.exitCode === 0) return undefined;
  const lines = Object.entries(trailers).map(([key, value]) => `${key}: ${value}`);
  const message = [subject.split("\n")[0]?.slice(0, 200) ?? "", ...(lines.length > 0 ? ["", ...lines] : [])].join("\n");
  await gitText(worktree, ["commit", "--no-verify", "--file=-"], { env: await identity(worktree), input: message });
  return gitText(worktree, ["rev-parse", "HEAD"]);
}

/** Environment for a commit: empty where the user has an identity, else roocode's. */
export async function identity(worktree: string): Promise<NodeJS.ProcessEnv> {
  const email = await git(worktree, ["config", "user.email"]);
  const name = await git(worktree, ["config", "user.name"]);
  if (email.exitCode === 0 && name.exitCode === 0 && email.stdout.trim() !== "") return {};
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
