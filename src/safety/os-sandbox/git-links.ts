import { type Dirent, lstatSync, readdirSync, readlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";

/** Links, pipes and sockets in a git folder, each with where it leads. */
export type GitLinks = ReadonlyMap<string, string>;

/**
 * Looks through what commands can change in a git folder. Git writes through a link (a log, a message, the index), and it waits for a
 * pipe for ever: the next git that runs outside would write wherever a command wanted.
 */
export function gitLinks(folders: readonly string[]): GitLinks {
  const found = new Map<string, string>();
  for (const folder of folders) look(folder, found);
  return found;
}

/** Takes away those that were not there before; gives their names. */
export function removeNewGitLinks(folders: readonly string[], before: GitLinks): string[] {
  const fresh = [...gitLinks(folders)].filter(([path, target]) => before.get(path) !== target).map(([path]) => path);
  return fresh.filter(remove);
}

function look(folder: string, found: Map<string, string>): void {
  for (const entry of entries(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      // Objects are only added, under names that nobody chooses; other worktrees' records can't be written.
      if (entry.name !== "objects" && entry.name !== "worktrees") look(path, found);
    } else if (!entry.isFile()) found.set(path, entry.isSymbolicLink() ? target(path) : "");
  }
}

function entries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // Gone meanwhile, or not ours to look into.
    return [];
  }
}

function target(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

function remove(path: string): boolean {
  try {
    if (lstatSync(path).isDirectory()) return false;
    unlinkSync(path);
    return true;
  } catch {
    // A command that still runs took it away.
    return false;
  }
}
