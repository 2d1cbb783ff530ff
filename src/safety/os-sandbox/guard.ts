import {
  closeSync,
  constants,
  type FSWatcher,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  symlinkSync,
  watch,
} from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import type { Guarded } from "./policy.ts";

/** A name that a command touched; `isLeft`: it could not be put right. */
export type Touched = { path: string; isLeft: boolean };

/** A command may make and remove such a name a hundred thousand times a second; the agent has other work too. */
const PAUSE_MS = 20;
/** How many things in a row are moved aside from one name while a command runs, so that a loop can't fill the folder. The look at its end
 * always finds a free name: nothing may stay. */
const MOST_ASIDE = 20;

/**
 * Watches names that could not be mounted over while a command runs: what appears there is moved aside at once, a link that was turned
 * is put back. `end` looks a last time and gives the names that were touched.
 */
export function guardNames(guarded: readonly Guarded[]): { end(): Touched[] } {
  const touched = new Map<string, boolean>();
  const check = (most: number): void => {
    for (const name of guarded) {
      try {
        if (mend(name, most)) touched.set(name.path, false);
      } catch {
        // The command changes it under our hands, or took the right away: the next look may do it, and the last one says so.
        touched.set(name.path, true);
      }
    }
  };
  let pause: NodeJS.Timeout | undefined;
  let isWanted = false;
  const checkSoon = (): void => {
    isWanted = true;
    if (pause !== undefined) return;
    isWanted = false;
    check(MOST_ASIDE);
    pause = setTimeout(() => {
      pause = undefined;
      if (isWanted) checkSoon();
    }, PAUSE_MS).unref();
  };
  const watchers: FSWatcher[] = [];
  for (const folder of new Set(guarded.map(({ from }) => from))) {
    try {
      watchers.push(watch(folder, { persistent: false }, checkSoon).on("error", () => undefined));
    } catch {
      // No watches left: the look at the end has to do.
    }
  }
  return {
    end() {
      for (const one of watchers) one.close();
      clearTimeout(pause);
      for (const path of touched.keys()) touched.set(path, false);
      check(Number.POSITIVE_INFINITY);
      return [...touched].map(([path, isLeft]) => ({ path, isLeft }));
    },
  };
}

/** True when something had to be put right. */
function mend({ path, link, from }: Guarded, most: number): boolean {
  return link === undefined ? putAway(path, from, most) : putBack(path, link, most);
}

function putAway(path: string, from: string, most: number): boolean {
  const intruder = intruderOf(path, from);
  if (intruder === undefined) return false;
  inFolder(dirname(intruder), (at) => moveAside(at, basename(intruder), most));
  return true;
}

/** What a command made on the way to a name: the thing itself, or a link above it. Nothing that the link leads to is touched. */
function intruderOf(path: string, from: string): string | undefined {
  let at = from;
  for (const name of relative(from, path).split(sep)) {
    at = join(at, name);
    const found = lstatSync(at, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    if (found.isSymbolicLink()) return at === path || lstatSync(path, { throwIfNoEntry: false }) ? at : undefined;
  }
  // An empty folder says nothing; it may be the place of a mount.
  return isEmptyFolder(path) ? undefined : path;
}

function putBack(path: string, link: string, most: number): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink() && readlinkSync(path) === link) return false;
  inFolder(dirname(path), (at) => {
    if (found) moveAside(at, basename(path), most);
    symlinkSync(link, at(basename(path)));
  });
  return true;
}

/** At most `most` names are tried. Not removed: the person may have made it meanwhile, as what was moved aside before. To empty a folder could be led elsewhere, too. */
function moveAside(at: (name: string) => string, name: string, most: number): void {
  const aside = (number: number): string => at(`${name}.refused${number === 1 ? "" : `-${number}`}`);
  let number = 1;
  // No recursion: a command can take more names beforehand than a stack is deep.
  while (number < most && lstatSync(aside(number), { throwIfNoEntry: false })) number += 1;
  renameSync(at(name), aside(number));
}

/** Acts on entries of the very folder that stands at a path without links; throws when the path leads elsewhere by now. */
function inFolder(folder: string, act: (at: (name: string) => string) => void): void {
  const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const held = `/proc/self/fd/${fd}`;
    const isHeld = lstatSync(held, { throwIfNoEntry: false }) !== undefined;
    if ((isHeld ? readlinkSync(held) : realpathSync(folder)) !== folder) throw new Error(`${folder} leads elsewhere now`);
    act((name) => join(isHeld ? held : folder, name));
  } finally {
    closeSync(fd);
  }
}

function isEmptyFolder(path: string): boolean {
  if (!lstatSync(path).isDirectory()) return false;
  try {
    return readdirSync(path).length === 0;
  } catch {
    // A folder that nobody may look into was not made for a mount.
    return false;
  }
}
