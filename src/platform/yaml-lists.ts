import { readlink, realpath, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { UserError } from "../protocol/errors.ts";
import { isErrno, readOddFile, writeAtomic } from "./files.ts";
import { withLock } from "./lock.ts";

type ListAddition = { path: readonly string[]; items: readonly unknown[] };

/** Adds what is not there yet to lists of a YAML file; gives how many items it added. Comments and everything else stay as they are. */
export async function addToLists(yamlFile: string, additions: readonly ListAddition[], isDryRun = false): Promise<number> {
  const file = await linkTarget(yamlFile);
  const change = async () => {
    const { parseDocument, isSeq } = await import("./yaml.ts");
    const { text = "", problem } = await readOddFile(file);
    if (problem) throw new UserError(`${file} ${problem}; mend it, then do this again.`);
    const document = parseDocument(text);
    if (document.errors.length > 0) throw new UserError(`${file} does not parse; mend it, then do this again.`);
    let added = 0;
    for (const { path, items } of additions) {
      for (const item of items) {
        const list = document.getIn(path);
        if (!isSeq(list)) document.setIn(path, document.createNode([item]));
        else if (list.toJSON().some((one: unknown) => isDeepStrictEqual(one, item))) continue;
        else list.add(document.createNode(item));
        added += 1;
      }
    }
    if (added > 0 && !isDryRun) await writeAtomic(file, document.toString(), { mode: await modeOf(file) });
    return added;
  };
  return isDryRun ? change() : withLock(file, change);
}

/** As it is; a new one is the owner's. */
async function modeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ mode }) => mode & 0o777,
    () => 0o600,
  );
}

/** A link stays one: what it leads to is written. */
async function linkTarget(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch (error) {
    if (!isErrno(error, "ENOENT", "ENOTDIR")) throw error;
    const link = await readlink(file).catch(() => undefined);
    return link === undefined ? file : resolve(dirname(file), link);
  }
}
