import {
  closeSync,
  constants,
  type FSWatcher,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  watch,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Guarded } from "./policy.ts";
import { nearestFolder } from "./protect.ts";

/** A name that a command touched; `isLeft`: it could not be put right. */
export type Touched = { path: string; isLeft: boolean };

/** How many things in a row are moved aside from one name. */
const MOST_ASIDE = 20;

/**
 * Watches names that could not be mounted over while a command runs: what appears there is moved aside at once, a link that was turned
 * is put back. `end` looks a last time and gives the names that were touched.
 */
export function guardNames(guarded: readonly Guarded[]): { end(): Touched[] } {
  const touched = new Map<string, boolean>();
  const check = (): void => {
    for (const name of guarded) {
      try {
        if (mend(name)) touched.set(name.path, false);
      } catch {
        // The command changes it under our hands, or took the right away: the next look may do it, and the last one says so.
        touched.set(name.path, true);
      }
    }
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
      for (const path of touched.keys()) touched.set(path, false);
      check();
      return [...touched].map(([path, isLeft]) => ({ path, isLeft }));
    },
  };
}

/** True when something had to be put right. */
function mend({ path, link }: Guarded): boolean {
  const above = linkAbove(path);
  if (above !== undefined) {
    moveAside(above);
    return true;
  }
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

/** The path had no link on its way: one that is there now was made by the command, and what lies behind it may be anybody's. */
function linkAbove(path: string): string | undefined {
  let highest: string | undefined;
  for (let at = dirname(path); at !== dirname(at); at = dirname(at))
    if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink()) highest = at;
  return highest;
}

/**
 * Not removed: the person may have made it meanwhile. The folder is held open and looked at by the kernel's own name of it, so that
 * nothing is moved in another one.
 */
function moveAside(path: string): void {
  const folder = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const held = `/proc/self/fd/${folder}`;
    const isHeld = process.platform === "linux";
    if (isHeld && readlinkSync(held) !== dirname(path)) throw new Error(`${dirname(path)} leads elsewhere now`);
    const from = join(isHeld ? held : dirname(path), basename(path));
    const aside = (number: number): string => {
      const name = `${from}.refused${number === 1 ? "" : `-${number}`}`;
      // What was moved aside before stays.
      return number < MOST_ASIDE && lstatSync(name, { throwIfNoEntry: false }) ? aside(number + 1) : name;
    };
    renameSync(from, aside(1));
  } finally {
    closeSync(folder);
  }
}
