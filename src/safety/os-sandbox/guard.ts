import { type FSWatcher, lstatSync, readdirSync, readlinkSync, renameSync, symlinkSync, watch } from "node:fs";
import type { Guarded } from "./policy.ts";
import { nearestFolder } from "./protect.ts";

/**
 * Watches names that could not be mounted over while a command runs: what appears there is moved aside at once, a link that was turned
 * is put back. `end` looks a last time and gives the names that were touched.
 */
export function guardNames(guarded: readonly Guarded[]): { end(): string[] } {
  const touched = new Set<string>();
  const check = (): void => {
    for (const name of guarded) if (mend(name)) touched.add(name.path);
  };
  const watchers: FSWatcher[] = [];
  for (const folder of new Set(guarded.map(({ path }) => nearestFolder(path)))) {
    try {
      watchers.push(watch(folder, { persistent: false }, check).on("error", () => undefined));
    } catch {
      // No watches left: the look at the end has to do.
    }
  }
  return {
    end() {
      for (const one of watchers) one.close();
      check();
      return [...touched];
    },
  };
}

/** True when something had to be put right. */
function mend({ path, link }: Guarded): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (link === undefined) {
    // An empty folder says nothing; it may be the place of a mount.
    if (found === undefined || (found.isDirectory() && readdirSync(path).length === 0)) return false;
    moveAside(path);
    return true;
  }
  if (found?.isSymbolicLink() && readlinkSync(path) === link) return false;
  if (found) moveAside(path);
  symlinkSync(link, path);
  return true;
}

/** Not removed: the person may have made it meanwhile. Nor is what was moved aside before. */
function moveAside(path: string): void {
  const aside = (number: number): string => {
    const name = number === 1 ? `${path}.refused` : `${path}.refused-${number}`;
    return lstatSync(name, { throwIfNoEntry: false }) ? aside(number + 1) : name;
  };
  renameSync(path, aside(1));
}
