import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { isErrno } from "../../../platform/files.ts";

export type OwnFile = { text: string } | { bad: string } | { gone: true };

/**
 * The text of a file that only this user can have written: regular, no link, ours, closed to others, at most `maxBytes`. All of it is
 * looked at on the open file, so nothing can be put in its place in between.
 */
export async function readOwnFile(path: string, maxBytes: number): Promise<OwnFile> {
  // O_NONBLOCK: opening a FIFO must not wait for its other end.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(path, flags);
  } catch (error) {
    if (isErrno(error, "ENOENT")) return { gone: true };
    if (isErrno(error, "ELOOP", "ENXIO", "EACCES")) return { bad: "it is no regular file that we may read" };
    throw error;
  }
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) return { bad: "it is no regular file" };
    if (process.getuid && stat.uid !== process.getuid()) return { bad: `it belongs to another user (${stat.uid})` };
    if (process.getuid && (stat.mode & 0o7777) !== 0o600) return { bad: `its mode is ${(stat.mode & 0o7777).toString(8)}, not 600` };
    if (stat.size > maxBytes) return { bad: `it has ${stat.size} bytes, ${maxBytes} are allowed` };
    return { text: await handle.readFile("utf8") };
  } finally {
    await handle.close();
  }
}
