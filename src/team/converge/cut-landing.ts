import { lstat, readFile, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isErrno } from "../../platform/files.ts";
import { GitError, git, gitText } from "../../platform/git.ts";
import { removeLeftLocks } from "../../platform/left-locks.ts";
import { makeTempFolder } from "../../platform/temp-folder.ts";

/** Belongs to the checkout alone; there from before git moves the branch until git is over. */
const UNDER_WAY = "refs/worktree/roocode-landing";

/** Says in the checkout what its branch is about to become: a git that is killed meanwhile leaves half of the files there. */
export async function beginLanding(checkout: string, to: string): Promise<void> {
  await gitText(checkout, ["update-ref", UNDER_WAY, to]);
}

export async function endLanding(checkout: string): Promise<void> {
  await git(checkout, ["update-ref", "-d", UNDER_WAY]);
}

/**
 * Takes back what a landing left that was cut off (git killed, or the machine gone): paths that are as the new commits have them, or
 * torn on the way there, are again as the branch has them. What the person did with a path since then stays.
 */
export async function undoCutLanding(checkout: string, tip: string): Promise<void> {
  const known = await git(checkout, ["rev-parse", "--verify", "--quiet", `${UNDER_WAY}^{commit}`]);
  if (known.exitCode !== 0) return;
  const to = known.stdout.trim();
  await removeLeftLocks(checkout);
  await takeBackLanding(checkout, tip, to);
  await endLanding(checkout);
}

/** The same for a git that ended by itself, and so left no lock of its own. */
export async function takeBackLanding(checkout: string, tip: string, to: string): Promise<void> {
  const isAhead = to !== tip && (await git(checkout, ["merge-base", "--is-ancestor", tip, to])).exitCode === 0;
  if (isAhead) await undo(checkout, tip, to);
}

async function undo(checkout: string, from: string, to: string): Promise<void> {
  const changed = async (more: readonly string[], env = {}): Promise<Set<string>> => {
    const args = ["diff", "--no-renames", "--no-ext-diff", "--name-only", "-z", ...more];
    const result = await git(checkout, args, { env });
    if (result.exitCode !== 0) throw new GitError(args, result);
    return new Set(result.stdout.split("\0").filter((path) => path !== ""));
  };
  const [incoming, added, deleted, staged, stagedOther] = await Promise.all([
    changed([from, to]),
    changed(["--diff-filter=A", from, to]),
    changed(["--diff-filter=D", from, to]),
    changed(["--cached", from]),
    changed(["--cached", to]),
  ]);
  const [unlikeFrom, unlikeTo] = await withTrees(checkout, [from, to], (index) => changed([], { GIT_INDEX_FILE: index }));
  const ours: string[] = [];
  for (const path of incoming) {
    // Staged by the person.
    if (staged.has(path) && stagedOther.has(path)) continue;
    const isThere = await isFile(join(checkout, path));
    const isFrom = added.has(path) ? !isThere : !unlikeFrom?.has(path);
    const isTo = deleted.has(path) ? !isThere : !unlikeTo?.has(path);
    if (isFrom || isTo || !isThere || (await isTorn(checkout, path, to))) ours.push(path);
  }
  const [gone, kept] = [ours.filter((path) => added.has(path)), ours.filter((path) => !added.has(path))];
  for (const path of gone) await removeFile(checkout, path);
  for (const [command, paths] of [
    ["reset", gone],
    ["checkout", kept],
  ] as const) {
    const args = ["--literal-pathspecs", command, "--quiet", from, "--pathspec-from-file=-", "--pathspec-file-nul"];
    if (paths.length > 0) await gitText(checkout, args, { input: paths.map((path) => `${path}\0`).join("") });
  }
}

/** What `look` finds with an index that is as the commit is, for each of them. */
async function withTrees<Found>(checkout: string, commits: readonly string[], look: (index: string) => Promise<Found>): Promise<Found[]> {
  const folder = makeTempFolder("landing");
  const found: Found[] = [];
  try {
    for (const commit of commits) {
      const index = join(folder, commit);
      await gitText(checkout, ["read-tree", commit], { env: { GIT_INDEX_FILE: index } });
      found.push(await look(index));
    }
    return found;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Its writer was killed: what is there is the beginning of what was to be. */
async function isTorn(checkout: string, path: string, to: string): Promise<boolean> {
  const whole = await git(checkout, ["cat-file", "--filters", `${to}:${path}`]);
  if (whole.exitCode !== 0) return false;
  const part = await readFile(join(checkout, path), "utf8").catch(() => undefined);
  return part !== undefined && whole.stdout.startsWith(part.replace(/\uFFFD+$/, ""));
}

async function removeFile(checkout: string, path: string): Promise<void> {
  await rm(join(checkout, path), { force: true });
  for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) {
    try {
      await rmdir(join(checkout, folder));
    } catch (error) {
      if (isErrno(error, "ENOTEMPTY", "ENOENT", "EEXIST")) return;
      throw error;
    }
  }
}

async function isFile(path: string): Promise<boolean> {
  try {
    return !(await lstat(path)).isDirectory();
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return false;
    throw error;
  }
}
