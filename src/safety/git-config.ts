import { statSync } from "node:fs";
import { gitConfigFiles, gitConfigKeys } from "../platform/git-config-files.ts";
import { isExecKey } from "./git-command.ts";

/**
 * Whether the configuration of the repository around a folder names a program that a reading git would start. Remembered until one of
 * the files changes; a repository that can't be read counts as unsafe.
 */
export function gitConfigReader(): (folder: string) => boolean {
  const known = new Map<string, { stamp: string; isSafe: boolean }>();
  return (folder) => {
    const files = gitConfigFiles(folder);
    if (!files) return true;
    const stamp = files.map(stampOf).join();
    const before = known.get(folder);
    if (before?.stamp === stamp) return before.isSafe;
    const isSafe = files.every((file) => !changedKeys(file).some(isExecKey));
    known.set(folder, { stamp, isSafe });
    return isSafe;
  };
}

/** Without those of every clone, which say where it came from; a submodule's name the folder that it stands in. */
function changedKeys(file: string): string[] {
  const isSubmodule = /[/\\]modules[/\\]/.test(file);
  return gitConfigKeys(file).filter((key) => !PLAIN.test(key) && !(isSubmodule && key === "core.worktree"));
}

const PLAIN =
  /^(remote\..*\.(url|fetch|pushurl)|branch\..*|core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks))$/i;

function stampOf(path: string): string {
  try {
    const found = statSync(path);
    return `${found.mtimeMs}:${found.size}:${found.ino}`;
  } catch {
    return "none";
  }
}
