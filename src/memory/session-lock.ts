import { mkdirSync, readdirSync, readlinkSync, symlinkSync, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isErrno, isUnwritable } from "../platform/files.ts";
import { isAlive, selfIdentity } from "../platform/process.ts";
import { UserError } from "../protocol/errors.ts";
import type { ProcessIdentity } from "../protocol/team.ts";

export type SessionLock = Disposable;

/**
 * One process for each session. The lock is a link beside the file, `<id>.lock`, that names its owner: made in one step, with
 * its content. A dead owner's is not replaced but outnumbered by `<id>.lock.1` and so on: of two that take over at once only
 * one can make the next number, and whoever finds a higher number than its own gives way.
 */
export function lockSession(sessionPath: string): SessionLock {
  const base = lockBase(sessionPath);
  try {
    mkdirSync(dirname(base), { recursive: true, mode: 0o700 });
    return makeHighest(base);
  } catch (error) {
    // Where nothing can be written no other process can write either.
    if (isUnwritable(error)) return { [Symbol.dispose]: () => undefined };
    throw error;
  }
}

function makeHighest(base: string): SessionLock {
  for (;;) {
    const held = highestLock(base);
    if (held && isOwned(held)) throw new UserError(inUse(basename(base, ".lock"), held.owner));
    const number = held ? held.number + 1 : 0;
    if (!makeLock(lockPath(base, number))) continue;
    if ((highestLock(base)?.number ?? number) > number) {
      remove(lockPath(base, number));
      continue;
    }
    for (const old of locks(base)) if (old.number < number) remove(lockPath(base, old.number));
    return { [Symbol.dispose]: () => remove(lockPath(base, number)) };
  }
}

/** The process that has the session open now. */
export function sessionOwner(sessionPath: string): ProcessIdentity | undefined {
  const held = highestLock(lockBase(sessionPath));
  return held && isOwned(held) ? held.owner : undefined;
}

type Lock = { number: number; owner: ProcessIdentity };

function inUse(id: string, owner: ProcessIdentity): string {
  return `The session ${id} is open in another process (pid ${owner.pid}). End it there, or go on with a copy: roocode --resume ${id} --fork-session`;
}

function lockBase(sessionPath: string): string {
  return sessionPath.replace(/\.jsonl$/, ".lock");
}

function lockPath(base: string, number: number): string {
  return number === 0 ? base : `${base}.${number}`;
}

function isOwned({ owner }: Lock): boolean {
  return isAlive(owner);
}

function highestLock(base: string): Lock | undefined {
  return locks(base).sort((a, b) => b.number - a.number)[0];
}

function locks(base: string): Lock[] {
  const name = basename(base);
  let names: string[];
  try {
    names = readdirSync(dirname(base));
  } catch (error) {
    if (isErrno(error, "ENOENT")) return [];
    throw error;
  }
  return names.flatMap((entry) => {
    const number = entry === name ? 0 : entry.startsWith(`${name}.`) ? Number(entry.slice(name.length + 1)) : Number.NaN;
    const owner = Number.isInteger(number) ? readOwner(join(dirname(base), entry)) : undefined;
    return owner ? [{ number, owner }] : [];
  });
}

function readOwner(path: string): ProcessIdentity | undefined {
  try {
    const [, pid = "", startedAt = ""] = /^(\d+) (.*)$/.exec(readlinkSync(path)) ?? [];
    return { pid: Number(pid), startedAt };
  } catch (error) {
    // Given back meanwhile.
    if (isErrno(error, "ENOENT")) return undefined;
    // No link of ours: nobody lives by it, and the next number is free.
    if (isErrno(error, "EINVAL")) return { pid: 0, startedAt: "" };
    throw error;
  }
}

/** False when another one was first. */
function makeLock(path: string): boolean {
  const { pid, startedAt } = selfIdentity();
  try {
    symlinkSync(`${pid} ${startedAt}`, path);
    return true;
  } catch (error) {
    if (isErrno(error, "EEXIST")) return false;
    throw error;
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error;
  }
}
