import type { BigIntStats } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { isErrno } from "../platform/files.ts";
import { openChecked } from "../platform/open-checked.ts";
import type { ToolContext } from "../protocol/tool.ts";
import { nearNames } from "./near-names.ts";
import { absolutePath, realPath } from "./workspace-path.ts";

/** Larger files are read in pages, and changed by programs that stream. */
export const MAX_EDIT_BYTES = 64 * 1024 * 1024;

/** The place that was judged; where nobody judges, the one that the path leads to now. */
export async function placeOf(path: string, context: ToolContext): Promise<string> {
  return context.resolved?.[0] ?? (await realPath(absolutePath(path, context.cwd)));
}

/** A regular file whole, a sentence why it can't be had, or undefined when nothing is there. */
export async function readWhole(place: string, shown: string): Promise<{ bytes: Buffer; stats: BigIntStats } | string | undefined> {
  try {
    await using file = await openChecked(place);
    const stats = await file.stat({ bigint: true });
    if (!stats.isFile()) return `${shown} is not a regular file.`;
    if (stats.size > MAX_EDIT_BYTES)
      return `${shown} has ${stats.size} bytes; files over ${MAX_EDIT_BYTES} are not changed here. Use Bash, for example sed.`;
    return { bytes: await file.readFile(), stats };
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return undefined;
    // A socket can't be opened at all.
    if (isErrno(error, "ENXIO", "EOPNOTSUPP")) return `${shown} is not a regular file.`;
    if (isErrno(error, "EACCES", "EPERM", "ENAMETOOLONG"))
      return `${shown} can't be read (${error instanceof Error ? error.message.split(",")[0] : ""}).`;
    throw error;
  }
}

/** "There is no file …", with names beside it that look the same. */
export async function nothingThere(place: string, shown: string): Promise<string> {
  const names = await readdir(dirname(place)).catch(() => []);
  const near = nearNames(basename(place), names);
  return `There is no file ${shown}.${near.length > 0 ? ` Near it: ${near.join(", ")}.` : ""}`;
}
