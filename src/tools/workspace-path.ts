import { realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { isErrno } from "../platform/files.ts";

/** The absolute path of what the model named; a leading `~/` is the home folder. */
export function absolutePath(path: string, cwd: string): string {
  if (path === "~" || path.startsWith("~/")) return join(process.env.HOME ?? "/", path.slice(1));
  return resolve(cwd, path);
}

/** Links resolved; for a file that is not there yet, of the nearest folder that is. */
export async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isErrno(error, "ENOENT") || dirname(path) === path) throw error;
    return join(await realPath(dirname(path)), basename(path));
  }
}

/** Relative to the working folder where it lies below it; else absolute. */
export function shownPath(path: string, cwd: string): string {
  const short = relative(cwd, path);
  return short !== "" && !short.startsWith("..") && !isAbsolute(short) ? short : path;
}
