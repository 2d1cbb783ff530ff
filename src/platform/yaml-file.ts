import { readlink, realpath, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { UserError } from "../protocol/errors.ts";
import { isErrno, readOddFile, writeAtomic } from "./files.ts";
import { withLock } from "./lock.ts";
import type { Document } from "./yaml.ts";

/** `change` says whether it changed something. Comments and everything else stay as they are. */
export async function changeYaml(yamlFile: string, change: (document: Document) => boolean, isDryRun = false): Promise<void> {
  const file = await linkTarget(yamlFile);
  const act = async () => {
    const { parseDocument } = await import("./yaml.ts");
    const { text = "", problem } = await readOddFile(file);
    if (problem) throw new UserError(`${file} ${problem}; mend it, then do this again.`);
    const document = parseDocument(text);
    if (document.errors.length > 0) throw new UserError(`${file} does not parse; mend it, then do this again.`);
    if (change(document) && !isDryRun) await writeAtomic(file, document.toString(), { mode: await modeOf(file) });
  };
  await (isDryRun ? act() : withLock(file, act));
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
