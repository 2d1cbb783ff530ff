import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

export type Repository = {
  /** Top folder of the checkout that `cwd` lies in: a linked worktree's own. */
  top: string;
  /** Top folder of the checkout that holds the `.git` folder. */
  primary: string;
  /** Undefined when HEAD is detached. */
  branch: string | undefined;
};

/** What the files in `.git` say, read without starting git: it stands on the way to the first request. */
export function findRepository(cwd: string): Repository | undefined {
  for (let folder = realpathSync(cwd); ; folder = dirname(folder)) {
    const gitFolder = gitFolderOf(join(folder, ".git"));
    if (gitFolder) {
      const head = read(join(gitFolder, "HEAD"))?.trim();
      const branch = /^ref: refs\/heads\/(.+)$/.exec(head ?? "")?.[1];
      return { top: folder, primary: primaryOf(folder, gitFolder) ?? folder, branch };
    }
    if (dirname(folder) === folder) return undefined;
  }
}

/** Likewise of a folder that may be gone. */
export function primaryAt(folder: string): string | undefined {
  return existsSync(folder) ? findRepository(folder)?.primary : undefined;
}

/**
 * The checkout that a linked worktree belongs to; none where the repository is bare or a submodule's. Anyone can write a pointer to somebody's repository, whose trust and settings would
 * then count here: so that repository must name this worktree itself.
 */
function primaryOf(folder: string, gitFolder: string): string | undefined {
  const common = read(join(gitFolder, "commondir"))?.trim();
  if (!common) return undefined;
  const commonFolder = real(resolve(gitFolder, common));
  if (dirname(real(gitFolder)) !== join(commonFolder, "worktrees")) return undefined;
  const back = read(join(gitFolder, "gitdir"))?.trim();
  if (!back || real(resolve(gitFolder, back)) !== join(folder, ".git")) return undefined;
  const primary = dirname(commonFolder);
  const own = gitFolderOf(join(primary, ".git"));
  return own !== undefined && real(own) === commonFolder ? primary : undefined;
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function gitFolderOf(path: string): string | undefined {
  try {
    if (statSync(path).isDirectory()) return path;
  } catch {
    return undefined;
  }
  const target = /^gitdir: (.+)$/m.exec(read(path) ?? "")?.[1];
  return target ? resolve(dirname(path), target.trim()) : undefined;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
