import { readFileSync, realpathSync, statSync } from "node:fs";
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
      const common = read(join(gitFolder, "commondir"))?.trim();
      const commonFolder = common ? resolve(gitFolder, common) : gitFolder;
      return { top: folder, primary: dirname(commonFolder), branch: /^ref: refs\/heads\/(.+)$/.exec(head ?? "")?.[1] };
    }
    if (dirname(folder) === folder) return undefined;
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
