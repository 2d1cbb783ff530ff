import { appendFile, copyFile, mkdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { checkoutAt, checkoutsOf } from "./checkouts.ts";
import { exists, isErrno, readTextOrUndefined } from "./files.ts";
import { GitError, git, gitText, KILLED, tryGit } from "./git.ts";
import { withLock } from "./lock.ts";

export type WorktreeRequest = {
  /** The primary checkout: worktrees are always made from there. */
  primary: string;
  path: string;
  /** New branch, or undefined for a detached HEAD. */
  branch?: string;
  /** A commit id: a branch name would make git write upstream settings into the shared configuration. */
  commit: string;
  /** One lock for all worktrees of a repository: parallel adds fail and leave branches behind. */
  lockPath: string;
};

/** Creates a worktree with its branch, or leaves nothing: a failure takes away what it made of folder and branch, and nothing else. */
export async function addWorktree({ primary, path, branch, commit, lockPath }: WorktreeRequest): Promise<void> {
  await withLock(lockPath, async () => {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const isNew = branch !== undefined && !(await hasBranch(primary, branch));
    const wasThere = await exists(path);
    // Forced, for what somebody removed by hand is still in git's list, and the place would count as taken.
    const args = ["worktree", "add", "--force", ...(branch === undefined ? ["--detach"] : ["--no-track", "-b", branch]), path, commit];
    for (let isAgain = false; ; isAgain = true) {
      const result = await tryGit(primary, args);
      if (result.exitCode === 0) return;
      const wasCut = await forgetCutAdd(primary, path);
      if (!wasThere) await rm(path, { recursive: true, force: true });
      await git(primary, ["worktree", "prune"]);
      if (isNew && branch !== undefined) await git(primary, ["branch", "-D", branch]);
      if (isAgain || !(wasCut || result.exitCode === KILLED)) throw new GitError(args, result);
    }
  });
}

/** Checks out a branch that exists in a new folder; for a worktree whose folder was lost. */
export async function restoreWorktree(request: Omit<WorktreeRequest, "commit"> & { branch: string }): Promise<void> {
  await withLock(request.lockPath, async () => {
    await forgetCutAdd(request.primary, request.path);
    await git(request.primary, ["worktree", "prune"]);
    await gitText(request.primary, ["worktree", "add", request.path, request.branch]);
  });
}

/**
 * A git that was killed while it made a worktree leaves it locked: then neither another `add`, `remove` nor `prune` nor the end of its
 * branch works. True when there was such a one.
 */
async function forgetCutAdd(primary: string, path: string): Promise<boolean> {
  const cut = (await checkoutAt(await checkoutsOf(primary), path))?.lock === "initializing";
  if (cut) await git(primary, ["worktree", "unlock", path]);
  return cut;
}

/** What a fresh checkout lacks: node_modules as a link, and the ignored files that `.roocode/worktree-include` names. */
export async function furnishWorktree(primary: string, path: string, includeFile: string): Promise<string[]> {
  const notes: string[] = [];
  await linkModules(primary, path);
  const patterns = (await readTextOrUndefined(includeFile))
    ?.split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  if (!patterns) {
    if (await exists(join(primary, ".env"))) notes.push("The worktree has no .env; name it in .roocode/worktree-include to copy it.");
    return notes;
  }
  const { default: ignore } = await import("ignore");
  const wanted = ignore().add(patterns);
  const listed = await gitText(primary, ["ls-files", "-z", "--others", "--ignored", "--exclude-standard"]);
  for (const name of listed.split("\0").filter((one) => one !== "" && wanted.ignores(one))) {
    const target = join(path, name);
    if (await exists(target)) continue;
    await mkdir(dirname(target), { recursive: true });
    await copyFile(join(primary, name), target);
  }
  return notes;
}

async function linkModules(primary: string, path: string): Promise<void> {
  const source = join(primary, "node_modules");
  if (!(await exists(source)) || (await exists(join(path, "node_modules")))) return;
  try {
    await symlink(await realpath(source), join(path, "node_modules"));
  } catch (error) {
    if (!isErrno(error, "EEXIST")) throw error;
  }
  // `node_modules/` in a .gitignore means a folder, so that a link would show as a new file and be committed.
  if ((await git(path, ["check-ignore", "--quiet", "node_modules"])).exitCode === 0) return;
  const excludeFile = await gitText(path, ["rev-parse", "--path-format=absolute", "--git-path", "info/exclude"]);
  const text = (await readTextOrUndefined(excludeFile)) ?? "";
  await mkdir(dirname(excludeFile), { recursive: true });
  await appendFile(excludeFile, `${text === "" || text.endsWith("\n") ? "" : "\n"}${EXCLUDED_LINK}`);
}

const EXCLUDED_LINK = "# roocode: links of team worktrees\n/node_modules\n";

/** Takes back the line that a linked node_modules may have needed. */
export async function forgetLinkedModules(primary: string): Promise<void> {
  const excludeFile = await gitText(primary, ["rev-parse", "--path-format=absolute", "--git-path", "info/exclude"]);
  const text = await readTextOrUndefined(excludeFile);
  if (text?.includes(EXCLUDED_LINK)) await writeFile(excludeFile, text.replaceAll(EXCLUDED_LINK, ""));
}

/** The name of a branch and a path that nobody has; both with a number behind them when either is taken. */
export async function freeTree(primary: string, branch: string, path: string): Promise<{ branch: string; path: string }> {
  for (let number = 1; ; number += 1) {
    const ending = number === 1 ? "" : `-${number}`;
    // A branch below that name is in its way too; a tag of that name is what git would merge.
    const names = ["heads", "tags"].map((kind) => `refs/${kind}/${branch}${ending}`);
    const refs = await gitText(primary, ["for-each-ref", "--count=1", "--format=%(refname)", ...names]);
    if (refs === "" && !(await exists(path + ending))) return { branch: branch + ending, path: path + ending };
  }
}

async function hasBranch(primary: string, branch: string): Promise<boolean> {
  return (await git(primary, ["show-ref", "--verify", "--quiet", `refs/heads/${branch}`])).exitCode === 0;
}

/** Takes the folder and git's record of it away; the branch stays. For a worktree that was proven to hold nothing of its own. */
export async function removeWorktree(primary: string, path: string, lockPath: string): Promise<void> {
  await withLock(lockPath, async () => {
    const remove = () => tryGit(primary, ["worktree", "remove", "--force", path]);
    const isRecordGone = (await remove()).exitCode === 0;
    if (!isRecordGone && (await forgetCutAdd(primary, path))) await remove();
    await rm(path, { recursive: true, force: true });
    if (!isRecordGone) await git(primary, ["worktree", "prune"]);
  });
}
