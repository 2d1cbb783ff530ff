import { constants, existsSync } from "node:fs";
import { open, realpath, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { isErrno, writeAtomic } from "../../platform/files.ts";
import { escapeHtml } from "../../platform/html.ts";
import { UserError } from "../../protocol/errors.ts";
import { GENERATOR } from "./page.ts";

/** The generator stands among the first lines. */
const HEAD_BYTES = 4096;

/** Where the page will be written; throws for what is no place for it. A report that lies there already may be written anew. */
export async function pageTarget(file: string): Promise<string> {
  if (file === "") throw new UserError("--html needs a file to write to: --html report.html");
  const path = resolve(file);
  try {
    return await checkedTarget(path);
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

/** Whole or not there. */
export async function writePage(target: string, html: string): Promise<void> {
  try {
    await writeAtomic(target, html);
  } catch (error) {
    throw cannotWrite(target, error);
  }
}

async function checkedTarget(path: string): Promise<string> {
  // A page goes where a link leads: the link stays.
  const real = await realpath(path).catch((error: unknown) => {
    if (isErrno(error, "ENOENT")) return undefined;
    throw error;
  });
  if (real === undefined) {
    const folder = await stat(dirname(path));
    if (!folder.isDirectory()) throw new UserError(`${dirname(path)} is no folder. Name a file in a folder that is there.`);
    return path;
  }
  const found = await stat(real);
  if (found.isDirectory()) throw new UserError(`${path} is a folder. Name a file in it: --html ${path}/report.html`);
  if (!found.isFile()) throw new UserError(`${path} is no ordinary file. Name another one.`);
  if (found.size > 0 && !(await isOurs(real)))
    throw new UserError(`${path} is there already and is no report of a team. Name another file, or remove it.`);
  return real;
}

async function isOurs(path: string): Promise<boolean> {
  await using handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  return buffer.toString("utf8", 0, bytesRead).includes(`<meta name="generator" content="${escapeHtml(GENERATOR)}">`);
}

function cannotWrite(path: string, error: unknown): unknown {
  if (error instanceof UserError || !(error instanceof Error && "code" in error)) return error;
  const folder = dirname(path);
  if (isErrno(error, "ENOTDIR")) return new UserError(`${path} can't be written: ${folder} is no folder.`);
  if (isErrno(error, "ENOENT") && !existsSync(folder)) return new UserError(`${path} can't be written: the folder ${folder} is not there.`);
  if (isErrno(error, "EACCES", "EPERM")) return new UserError(`${path} can't be written: you have no right to. Name another file.`);
  return new UserError(`${path} can't be written (${String(error.code)}). Name another file.`);
}
