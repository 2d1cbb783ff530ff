import { randomBytes } from "node:crypto";
import { link, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type * as z from "zod";
import { isErrno, readOddFile } from "../../../platform/files.ts";
import { RevisionConflict, UserError } from "../../../protocol/errors.ts";
import type { Revisions } from "../revisions.ts";
import { makeFolder, notAFolder } from "./layout.ts";

type RevisionOptions<Value> = { folder: string; what: string; schema: z.ZodType<Value>; sync?: boolean };

/** One immutable file a revision, `<n>.json`. Nothing is ever unlinked or changed. */
export function openRevisions<Value extends { revision: number }>(options: RevisionOptions<Value>): Revisions<Value> {
  // A revision never changes, so one that was read once is not read again.
  let known: Value | undefined;
  return {
    async latest() {
      const revision = await highestRevision(options.folder);
      if (revision === 0) return undefined;
      if (known?.revision !== revision) {
        const read = options.schema.safeParse(await readRevision(options.folder, revision));
        if (!read.success) throw damagedRevision(options.folder, revision);
        // By the name, not by what stands inside: where a person put an older one in the place of one that was damaged, the next follows.
        known = { ...read.data, revision };
      }
      return structuredClone(known);
    },
    async add(value) {
      await makeFolder(options.folder);
      const aside = await writeAside(options.folder, JSON.stringify(value, undefined, 2), options.sync ?? false);
      try {
        await link(aside, join(options.folder, `${value.revision}.json`));
      } catch (error) {
        if (!isErrno(error, "EEXIST")) throw error;
        throw new RevisionConflict(options.what, await highestRevision(options.folder));
      } finally {
        await rm(aside, { force: true });
      }
    },
  };
}

/** What stands in the file, not checked. Throws a UserError for what is no file, can't be read or is no JSON. */
export async function readRevision(folder: string, revision: number): Promise<unknown> {
  const { text, problem } = await readOddFile(join(folder, `${revision}.json`));
  if (text === undefined) throw damagedRevision(folder, revision, problem ?? "is gone");
  try {
    return JSON.parse(text);
  } catch {
    throw damagedRevision(folder, revision);
  }
}

export function damagedRevision(folder: string, revision: number, problem = "is damaged"): UserError {
  const before = revision > 1 ? `Put ${revision - 1}.json of that folder in its place, or move` : "Move";
  return new UserError(`${join(folder, `${revision}.json`)} ${problem}. ${before} ${folder} away.`);
}

/** 0 when there is none. */
export async function highestRevision(folder: string): Promise<number> {
  let highest = 0;
  for (const name of await namesIn(folder)) {
    const match = /^([1-9]\d{0,14})\.json$/.exec(name);
    if (match) highest = Math.max(highest, Number(match[1]));
  }
  return highest;
}

/** The names in a folder; none when there is no such folder. Throws a UserError for what is no folder. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isErrno(error, "ENOENT")) return [];
    if (isErrno(error, "ENOTDIR")) throw notAFolder(folder);
    throw error;
  }
}

async function writeAside(folder: string, text: string, sync: boolean): Promise<string> {
  const aside = join(folder, `.${process.pid}-${randomBytes(6).toString("hex")}.tmp`);
  const handle = await open(aside, "wx", 0o600);
  try {
    await handle.writeFile(`${text}\n`);
    if (sync) await handle.sync();
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
  return aside;
}
