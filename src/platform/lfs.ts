import { open } from "node:fs/promises";
import { join } from "node:path";
import { isErrno } from "./files.ts";
import { git } from "./git.ts";

const POINTER = "version https://git-lfs.github.com/spec/";

/** A sentence where files of the worktree are pointers because git-lfs is not set up for this person. */
export async function lfsNote(worktree: string): Promise<string | undefined> {
  const named = await git(worktree, ["grep", "--quiet", "--fixed-strings", "filter=lfs", "--", ":(glob)**/.gitattributes"]);
  if (named.exitCode !== 0 || (await isSetUp(worktree))) return undefined;
  return "This repository keeps files in Git LFS, and git-lfs is not set up here: they are pointers in the worktree, and a changed one is not committed. Install git-lfs, then: git lfs install.";
}

/**
 * Of changed paths, those that belong in LFS and are whole files, while nothing would turn them into pointers: a commit would put the
 * content itself into the history.
 */
export async function wholeLfsFiles(worktree: string, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return [];
  const { stdout } = await git(worktree, ["check-attr", "-z", "--stdin", "filter"], { input: paths.map((path) => `${path}\0`).join("") });
  const fields = stdout.split("\0");
  const inLfs = paths.filter((_, index) => fields[3 * index + 2] === "lfs");
  if (inLfs.length === 0 || (await isSetUp(worktree))) return [];
  const whole = await Promise.all(inLfs.map(async (path) => !(await isPointerOrGone(join(worktree, path)))));
  return inLfs.filter((_, index) => whole[index]);
}

async function isSetUp(worktree: string): Promise<boolean> {
  const filters = await Promise.all(["clean", "process"].map((verb) => git(worktree, ["config", "--get", `filter.lfs.${verb}`])));
  return filters.some(({ stdout }) => stdout.trim() !== "");
}

async function isPointerOrGone(path: string): Promise<boolean> {
  try {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(POINTER.length), 0, POINTER.length, 0);
    return buffer.subarray(0, bytesRead).toString() === POINTER;
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR", "EISDIR")) return true;
    throw error;
  }
}
