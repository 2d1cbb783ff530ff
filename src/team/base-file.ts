import { createHash } from "node:crypto";
import { lstat, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { isErrno } from "../platform/files.ts";

/** What a commit has at a path: mode and id as git writes them; "nothing"; or "unknown", which no file on disk is like. */
export type BaseFile = { mode: string; id: string } | "nothing" | "unknown";

const MOST_BYTES = 1_000_000;

/**
 * Whether a worktree surely has a path as the commit has it. No git is started for it, so "no" is said of whatever is not plain: a big
 * file, a folder, a submodule, a file that a filter wrote.
 */
export async function isAsInBase(worktree: string, path: string, base: BaseFile): Promise<boolean> {
  if (base === "unknown") return false;
  const file = join(worktree, path);
  try {
    const found = await lstat(file);
    if (base === "nothing" || found.size > MOST_BYTES) return false;
    if (found.isSymbolicLink()) return base.mode === "120000" && blobId(await readlink(file, "buffer"), base.id) === base.id;
    if (!found.isFile() || base.mode !== (found.mode & 0o100 ? "100755" : "100644")) return false;
    return blobId(await readFile(file), base.id) === base.id;
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return base === "nothing";
    throw error;
  }
}

/** By the algorithm that the id `like` was made with. */
function blobId(content: Buffer, like: string): string {
  const hash = createHash(like.length === 64 ? "sha256" : "sha1");
  return hash.update(`blob ${content.length}\0`).update(content).digest("hex");
}
