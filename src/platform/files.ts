import { randomBytes } from "node:crypto";
import { closeSync, constants, lstatSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

export function isErrno(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

/** Writing failed for want of room or of a right, or the disk has errors: what can be mended from outside while a run goes on. */
export function isUnwritable(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  // Making folders on a read-only file system, Node says of the first one only that it is not there.
  const isNoFolder = isErrno(error, "ENOENT") && "syscall" in error && error.syscall === "mkdir";
  return isNoFolder || isErrno(error, "ENOSPC", "EDQUOT", "EFBIG", "EIO", "EROFS", "EACCES", "EPERM", "ENXIO", "EISDIR");
}

export async function readTextOrUndefined(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  }
}

/**
 * The text of a file that people may have put there in any shape. Nothing there is no text; what is no file, can't be read or leads
 * nowhere is a problem, as words behind its path. A FIFO is not waited for.
 */
export async function readOddFile(path: string): Promise<{ text?: string; problem?: string }> {
  try {
    // Most of them are not there, and are looked for with each call of a tool: without the thread pool, and without an error.
    if (!lstatSync(path, { throwIfNoEntry: false })) return {};
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!(await file.stat()).isFile()) return { problem: "is no file" };
    return { text: await file.readFile("utf8") };
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    if (!isErrno(error, "ENOENT", "ENOTDIR")) return { problem: `can't be read (${error.code})` };
    return { problem: "is a link that leads nowhere" };
  }
}

export async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return false;
    throw error;
  }
}

type WriteOptions = {
  /** Permission bits of the new file; 0600 unless said otherwise. */
  mode?: number;
  /** Flush to the disk before the rename. */
  sync?: boolean;
};

/** Whole or not there: written beside the target, then renamed over it. Missing folders are made, for the owner only. */
export async function writeAtomic(path: string, content: string | Uint8Array, options: WriteOptions = {}): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const aside = join(folder, `.${basename(path).slice(0, 100)}.${randomBytes(6).toString("hex")}.tmp`);
  const mode = options.mode ?? 0o600;
  try {
    const handle = await open(aside, "wx", mode);
    try {
      await handle.writeFile(content);
      // open() subtracts the umask; the bits that were asked for must hold.
      await handle.chmod(mode);
      if (options.sync) await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(aside, path);
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
}

/**
 * One whole line at the end of the file, in one write. `value` becomes JSON. Synchronous: it takes some 30 microseconds, and by the
 * thread pool several times that, on each call of a tool. A FIFO that nobody reads is an error (ENXIO), not waited for.
 */
export function appendLine(path: string, value: unknown): void {
  const line = `${JSON.stringify(value)}\n`;
  try {
    appendText(path, line);
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    appendText(path, line);
  }
}

function appendText(path: string, text: string): void {
  const fd = openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK, 0o600);
  try {
    writeFileSync(fd, text);
  } finally {
    closeSync(fd);
  }
}
