import { execFile } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const root = decodeURIComponent(new URL("../..", import.meta.url).pathname);

/** Before all tests: what the end-to-end tests run is as new as the sources. */
export default async function buildOnce(): Promise<void> {
  const built = await mtime(join(root, "dist", "meta.json"));
  const sources = await Promise.all(["src", "scripts", "package.json"].map((name) => newest(join(root, name))));
  if (built > Math.max(...sources)) return;
  try {
    await promisify(execFile)(process.execPath, [join(root, "scripts", "build.mjs")]);
  } catch (error) {
    // Tests of single files tell more than a build that stops them all; those that need dist fail by themselves.
    process.stderr.write(`The build failed, so end-to-end tests will: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}

async function newest(path: string): Promise<number> {
  if (!(await stat(path)).isDirectory()) return mtime(path);
  const times = await Promise.all((await readdir(path)).map((name) => newest(join(path, name))));
  return Math.max(0, ...times);
}

async function mtime(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch {
    // Not built yet.
    return 0;
  }
}
