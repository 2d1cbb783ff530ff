import { copyFile, lstat, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { identity } from "../platform/commit.ts";
import { exists } from "../platform/files.ts";
import { GitError, git, gitText } from "../platform/git.ts";
import { submodulesWithOwnWork } from "../platform/submodules.ts";
import { makeTempFolder } from "../platform/temp-folder.ts";
import { type WorktreeState, worktreeState } from "../platform/worktree-state.ts";

const PREFIX = "refs/roocode/rescue/";
const KEEP_DAYS = 30;
/** Node's character for bytes that are no text. */
const LOSSY = "\uFFFD";
/** Caches that programs make anew; only where git ignores them. */
const CACHE =
  /(^|\/)(node_modules|__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.cache|\.turbo|\.vite|\.next|\.nyc_output|\.parcel-cache|\.svelte-kit|\.nuxt|\.gradle|\.tox|\.venv|venv|coverage|dist|build|target)(\/|$)|\.(pyc|class|tsbuildinfo)$|(^|\/)(\.eslintcache|\.DS_Store)$/;

export function rescueRef(team: string, name: string): string {
  return `${PREFIX}${team}/${name}`;
}

export type Unsaved = Pick<WorktreeState, "head" | "branch"> & { unsaved: string[] };

/**
 * Where a worktree's HEAD is, and its paths that no commit holds: changed, staged, untracked, and ignored but for caches and what the
 * system put there (the link of node_modules, included files that are still as in the primary checkout).
 */
export async function unsavedIn(worktree: string, primary: string): Promise<Unsaved> {
  const { head, branch, entries } = await worktreeState(worktree, ["--ignored=traditional"]).catch((error: unknown) => {
    if (error instanceof GitError) throw new Error(`${worktree} can't be read: ${error.result.stderr.trim().slice(0, 300)}`);
    throw error;
  });
  const unsaved: string[] = [];
  for (const { path, kind } of entries) {
    if (path === "node_modules" && (await lstat(join(worktree, path))).isSymbolicLink()) continue;
    if (kind === "ignored" && (CACHE.test(path) || (await isSame(join(worktree, path), join(primary, path))))) continue;
    unsaved.push(path);
  }
  // Git says nothing of what is new in a submodule. By a slash at its end it is known as a repository of its own.
  unsaved.push(...(await submodulesWithOwnWork(primary, worktree)).map((path) => `${path}/`));
  return { head, branch, unsaved };
}

async function isSame(path: string, original: string): Promise<boolean> {
  if (!(await exists(original)) || (await lstat(path)).isDirectory() || !(await lstat(original)).isFile()) return false;
  return (await readFile(path)).equals(await readFile(original));
}

/** A commit of the paths as they are on disk, on top of HEAD (and of the index where that differs). The worktree is not touched. */
export async function rescueWorktree(worktree: string, ref: string, paths: readonly string[]): Promise<string> {
  const folder = makeTempFolder("rescue");
  try {
    const index = join(folder, "index");
    const own = await gitText(worktree, ["rev-parse", "--path-format=absolute", "--git-path", "index"]);
    if (await exists(own)) await copyFile(own, index);
    const env = { ...(await identity(worktree)), GIT_INDEX_FILE: index };
    const staged = await git(worktree, ["write-tree"], { env });
    const head = await gitText(worktree, ["rev-parse", "HEAD"]);
    const parents = ["-p", head];
    if (staged.exitCode === 0 && staged.stdout.trim() !== (await gitText(worktree, ["rev-parse", "HEAD^{tree}"]))) {
      parents.push(
        "-p",
        await gitText(worktree, ["commit-tree", staged.stdout.trim(), "-p", head, "-m", "roocode rescue: the index"], { env }),
      );
    }
    // Takes each path as it is now, there or gone, ignored or not; `git add` stops at one that is in neither place.
    await gitText(worktree, ["update-index", "--add", "--remove", "-z", "--stdin"], {
      env,
      input: paths.map((path) => `${path}\0`).join(""),
    });
    for (const path of paths.filter((one) => one.includes(LOSSY))) await addLossy(worktree, path, env);
    const tree = await gitText(worktree, ["write-tree"], { env });
    const known = await rescuedBefore(worktree, ref, tree, head);
    if (known !== undefined) return known;
    const commit = await gitText(worktree, ["commit-tree", tree, ...parents, "-m", "roocode rescue: what was in no commit"], { env });
    return await rescueCommit(worktree, ref, commit);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A name that is no UTF-8 can't be given to git as it came: what stands in for its bytes matches any. */
async function addLossy(worktree: string, path: string, env: NodeJS.ProcessEnv): Promise<void> {
  const pattern = path.replace(/[\\*?[\]]/g, "\\$&").replaceAll(LOSSY, "*");
  const args = ["add", "--force", "--all", "--sparse", "--", `:(top,glob)${pattern}`];
  const result = await git(worktree, args, { env });
  if (result.exitCode !== 0 && !result.stderr.includes("did not match any files")) throw new GitError(args, result);
}

/** The same state, from an earlier look. */
async function rescuedBefore(worktree: string, ref: string, tree: string, head: string): Promise<string | undefined> {
  const refs = await gitText(worktree, ["for-each-ref", "--format=%(refname) %(tree) %(parent)", ref, `${ref}-*`]);
  const rows = refs.split("\n").map((line) => line.split(" "));
  return rows.find(([, savedTree, parent]) => savedTree === tree && parent === head)?.[0];
}

/** Keeps a commit reachable. A ref that holds something else already is left, and another name is taken. Gives the ref's name. */
export async function rescueCommit(repository: string, ref: string, commit: string): Promise<string> {
  // The log of the ref keeps the date from which its days are counted.
  const update = ["update-ref", "--create-reflog", "-m", "roocode: rescued"];
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? ref : `${ref}-${number}`;
    // Made only where nothing is.
    if ((await git(repository, [...update, name, commit, ""])).exitCode === 0) return name;
    const there = (await git(repository, ["rev-parse", "--verify", "--quiet", `${name}^{commit}`])).stdout.trim();
    if (there !== "" && (await git(repository, ["merge-base", "--is-ancestor", commit, there])).exitCode === 0) return name;
    // With nothing there yet, or something that the new commit holds too, the name is free.
    if (there !== "" && (await git(repository, ["merge-base", "--is-ancestor", there, commit])).exitCode !== 0) continue;
    await gitText(repository, [...update, name, commit]);
    return name;
  }
}

/** Rescue refs are kept for 30 days from the day they were made. */
export async function pruneRescued(repository: string, now = Date.now()): Promise<void> {
  const refs = await gitText(repository, ["for-each-ref", "--format=%(refname) %(committerdate:unix)", PREFIX]);
  for (const line of refs.split("\n").filter((one) => one !== "")) {
    const space = line.lastIndexOf(" ");
    const name = line.slice(0, space);
    const logged = await git(repository, [
      "log",
      "--no-show-signature",
      "--walk-reflogs",
      "--max-count=1",
      "--date=unix",
      "--format=%gd",
      name,
    ]);
    const made = Number(/@\{(\d+)\}/.exec(logged.stdout)?.[1] ?? line.slice(space + 1));
    if (made * 1000 < now - KEEP_DAYS * 24 * 60 * 60 * 1000) await git(repository, ["update-ref", "-d", name]);
  }
}
