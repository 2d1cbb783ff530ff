import { lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Mount } from "./policy.ts";
import { type Protection, realOrUndefined } from "./protect.ts";

/** Of a git folder: it names programs, or leads git to another folder that does. */
const STEERING = ["config", "hooks", "info", "commondir"];
/** The same once they are there; what a command makes of them anew steers nothing. */
const STEERING_IF_THERE = ["modules", "remotes", "branches"];
/** What a linked worktree needs of the common folder. All else there is the primary checkout's. */
const SHARED = /^(objects|refs|logs|reftable|packed-refs.*|worktrees|lfs|rr-cache|shallow.*|gc\..*|.*\.lock)$/;

/** Lets git work in this folder without letting it be steered. Gives the git folders that lie outside and have to be opened. */
export function gitPlaces(top: string, protection: (writable: readonly string[]) => Protection): Mount[] {
  const pointer = join(top, ".git");
  const found = lstatSync(pointer, { throwIfNoEntry: false });
  if (found?.isDirectory()) {
    makeUsual(pointer);
    const own = protection([pointer]);
    for (const name of [...steering(pointer), "worktrees"]) own.add(join(pointer, name));
    return [{ path: pointer, kind: "write" }];
  }
  const worktree = found?.isFile() ? linkedWorktree(pointer) : undefined;
  if (found !== undefined) protection([top]).add(pointer);
  if (worktree === undefined) return [];
  const { admin, common } = worktree;
  makeUsual(common);
  const shared = protection([common, admin]);
  for (const name of steering(common)) shared.add(join(common, name));
  for (const name of readdirSync(common)) if (!SHARED.test(name)) shared.add(join(common, name));
  for (const name of ["commondir", "gitdir", ...worktreeConfig(common)]) shared.add(join(admin, name));
  return [
    { path: common, kind: "write" },
    { path: dirname(admin), kind: "read" },
    { path: admin, kind: "write" },
  ];
}

function steering(gitFolder: string): string[] {
  const there = STEERING_IF_THERE.filter((name) => lstatSync(join(gitFolder, name), { throwIfNoEntry: false }) !== undefined);
  return [...STEERING, ...there, ...worktreeConfig(gitFolder)];
}

/** git reads it only where the configuration says so, and that can't be changed inside. */
function worktreeConfig(common: string): string[] {
  return /worktreeconfig/i.test(read(join(common, "config")) ?? "") ? ["config.worktree"] : [];
}

/** Folders that git itself makes: an empty one can be mounted over, a missing one can't. */
function makeUsual(gitFolder: string): void {
  for (const name of ["hooks", "info", "worktrees"])
    if (lstatSync(join(gitFolder, name), { throwIfNoEntry: false }) === undefined) mkdirSync(join(gitFolder, name));
}

/** Only where both ends name each other: a forged pointer must not open another repository. */
function linkedWorktree(pointer: string): { admin: string; common: string } | undefined {
  const target = /^gitdir: (.+)$/m.exec(read(pointer) ?? "")?.[1];
  const admin = target === undefined ? undefined : realOrUndefined(resolve(dirname(pointer), target.trim()));
  if (admin === undefined) return undefined;
  const back = read(join(admin, "gitdir"))?.trim();
  const common = realOrUndefined(resolve(admin, read(join(admin, "commondir"))?.trim() ?? "."));
  const isMutual = back !== undefined && realOrUndefined(resolve(admin, back)) === realOrUndefined(pointer);
  const isWorktree = common !== undefined && basename(dirname(admin)) === "worktrees" && dirname(dirname(admin)) === common;
  return isMutual && isWorktree ? { admin, common } : undefined;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Not there or not readable: then it proves nothing.
    return undefined;
  }
}
