import { randomBytes } from "node:crypto";
import { link, open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type * as z from "zod";
import { isErrno } from "../../../platform/files.ts";
import { RevisionConflict } from "../../../protocol/errors.ts";
import { makeFolder } from "./layout.ts";

/** A record kept as one immutable file a revision, `<n>.json`; the highest is its state. Nothing is ever unlinked or changed. */
export type Revisions<Value> = {
  latest(): Promise<Value | undefined>;
  /** Throws RevisionConflict when that revision is there already. */
  add(value: Value): Promise<void>;
};

type RevisionOptions<Value> = { folder: string; what: string; schema: z.ZodType<Value>; sync?: boolean };

export function openRevisions<Value extends { revision: number }>(options: RevisionOptions<Value>): Revisions<Value> {
  // A revision never changes, so one that was read once is not read again.
  let known: Value | undefined;
  return {
    async latest() {
      const revision = await highestRevision(options.folder);
      if (revision === 0) return undefined;
      if (known?.revision !== revision) {
        const text = await readFile(join(options.folder, `${revision}.json`), "utf8");
        known = options.schema.parse(JSON.parse(text));
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

/** 0 when there is none. */
export async function highestRevision(folder: string): Promise<number> {
  let highest = 0;
  for (const name of await namesIn(folder)) {
    const match = /^(\d+)\.json$/.exec(name);
    if (match) highest = Math.max(highest, Number(match[1]));
  }
  return highest;
}

/** The names in a folder; none when there is no such folder. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isErrno(error, "ENOENT")) return [];
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
