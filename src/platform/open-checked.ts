import { randomBytes } from "node:crypto";
import { type BigIntStats, constants, readlinkSync } from "node:fs";
import { type FileHandle, link, lstat, mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isErrno } from "./files.ts";

/** The path leads elsewhere by now than when it was judged. */
export class MovedPathError extends Error {
  constructor(path: string) {
    super(`"${path}" leads elsewhere now than when the call was judged, so nothing was done. Look what is there, then call again.`);
  }
}

/** The file was changed, or came to be, between the look at it and the moment of writing. */
export class ChangedFileError extends Error {}

/** Opens what stands at a path without links, and only that: a link put there since is refused, a FIFO is not waited for. */
export async function openChecked(realPath: string): Promise<FileHandle> {
  return openPlace(realPath, constants.O_RDONLY | constants.O_NONBLOCK);
}

/**
 * A folder held open. `at` names an entry of the very folder that was opened, wherever its path leads by now; `path` is that folder
 * for a child process. Where the system has no /proc both are plain paths, checked again at `stillThere`.
 */
export type OpenFolder = AsyncDisposable & { path: string; at(name: string): string; stillThere(): Promise<void> };

export async function openFolder(realPath: string): Promise<OpenFolder> {
  const handle = await openPlace(realPath, constants.O_RDONLY | constants.O_DIRECTORY);
  const own = `/proc/self/fd/${handle.fd}`;
  const isHeld = nameOf(handle) !== undefined;
  return {
    path: isHeld ? `/proc/${process.pid}/fd/${handle.fd}` : realPath,
    at: (name) => join(isHeld ? own : realPath, name),
    stillThere: async () => {
      if (!isHeld) await verify(handle, realPath);
    },
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

export type Replacement = {
  mode: number;
  /** The file that is replaced, as it was looked at; undefined for a new one. */
  before: BigIntStats | undefined;
};

/**
 * Whole or not at all, in the folder that was judged: written aside, then put in place of the entry. Missing folders are made. A
 * file that changed since `before`, or a new one that is there already, is left as it is.
 */
export async function replaceFile(realPath: string, content: Uint8Array, { mode, before }: Replacement): Promise<void> {
  await using folder = await openOrMake(dirname(realPath));
  const target = folder.at(basename(realPath));
  const aside = folder.at(`.roocode-${randomBytes(6).toString("hex")}.tmp`);
  try {
    const handle = await open(aside, "wx", mode);
    try {
      await handle.writeFile(content);
      if (before) await keepOwner(handle, before);
      // open() subtracts the umask, and a change of owner takes bits away.
      if (before) await handle.chmod(mode);
    } finally {
      await handle.close();
    }
    await folder.stillThere();
    if (!before) return await putNew(aside, target, realPath);
    const now = await lstat(target, { bigint: true }).catch(() => undefined);
    if (now?.ino !== before.ino || now.size !== before.size || now.mtimeNs !== before.mtimeNs)
      throw new ChangedFileError(`${realPath} changed on disk while it was written to, so it was left as it is. Read it again.`);
    await rename(aside, target);
  } finally {
    await rm(aside, { force: true });
  }
}

/** link() does not replace what came to be there meanwhile. */
async function putNew(aside: string, target: string, realPath: string): Promise<void> {
  try {
    await link(aside, target);
  } catch (error) {
    if (isErrno(error, "EEXIST")) throw new ChangedFileError(`${realPath} came to be while it was written, so it was left as it is.`);
    // A file system without hard links.
    if (!isErrno(error, "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK")) throw error;
    await rename(aside, target);
  }
}

async function keepOwner(handle: FileHandle, { uid, gid }: BigIntStats): Promise<void> {
  const own = await handle.stat({ bigint: true });
  if (own.uid === uid && own.gid === gid) return;
  await handle.chown(Number(uid), Number(gid)).catch((error: unknown) => {
    // Only root gives files away; then the file becomes the writer's, as it does with every editor that renames.
    if (!isErrno(error, "EPERM")) throw error;
  });
}

async function openOrMake(realPath: string): Promise<OpenFolder> {
  try {
    return await openFolder(realPath);
  } catch (error) {
    if (!isErrno(error, "ENOENT") || dirname(realPath) === realPath) throw error;
  }
  await using parent = await openOrMake(dirname(realPath));
  await mkdir(parent.at(basename(realPath))).catch((error: unknown) => {
    if (!isErrno(error, "EEXIST")) throw error;
  });
  return openFolder(realPath);
}

async function openPlace(realPath: string, flags: number): Promise<FileHandle> {
  const handle = await open(realPath, flags | constants.O_NOFOLLOW).catch(async (error: unknown) => {
    const isLink = isErrno(error, "ELOOP", "EMLINK") || (isErrno(error, "ENOTDIR") && (await hasLink(realPath)));
    throw isLink ? new MovedPathError(realPath) : error;
  });
  try {
    await verify(handle, realPath);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The kernel's own name of what was opened; where it gives none, no component may be a link and the entry must be the same. */
async function verify(handle: FileHandle, realPath: string): Promise<void> {
  const name = nameOf(handle);
  if (name === realPath) return;
  if (name !== undefined || (await hasLink(realPath))) throw new MovedPathError(realPath);
  const [opened, there] = await Promise.all([handle.stat({ bigint: true }), lstat(realPath, { bigint: true })]);
  if (opened.dev !== there.dev || opened.ino !== there.ino) throw new MovedPathError(realPath);
}

/** Undefined where there is no /proc. It is no disk, so nothing is waited for. */
function nameOf(handle: FileHandle): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${handle.fd}`);
  } catch {
    return undefined;
  }
}

async function hasLink(path: string): Promise<boolean> {
  for (let at = path; dirname(at) !== at; at = dirname(at)) {
    const found = await lstat(at).catch(() => undefined);
    if (found?.isSymbolicLink()) return true;
  }
  return false;
}
