import { readdir, readFile, readlink, rm, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { isErrno } from "./files.ts";
import { git, gitText } from "./git.ts";

/** A lock that stays as it is for so long has nobody who holds it. */
const STILL_MS = 1_000;

/**
 * Takes away what a git that was killed leaves: the locks of a checkout's index, of its HEAD and of its branch, which stop every git
 * after it. `branch` where there is no checkout (any more). `stillMs` is 0 where nobody else works.
 */
export async function removeLeftLocks(
  checkout: string,
  { branch, stillMs = STILL_MS }: { branch?: string; stillMs?: number } = {},
): Promise<void> {
  const head = branch ? { exitCode: 0, stdout: `refs/heads/${branch}` } : await git(checkout, ["symbolic-ref", "--quiet", "HEAD"]);
  const names = [...(branch ? [] : ["index", "HEAD", "ORIG_HEAD"]), ...(head.exitCode === 0 ? [head.stdout.trim()] : [])];
  const asked = names.flatMap((name) => ["--git-path", `${name}.lock`]);
  const paths = (await gitText(checkout, ["rev-parse", "--path-format=absolute", ...asked])).split("\n");
  const before = await Promise.all(paths.map(stateOf));
  if (before.every((state) => state === undefined)) return;
  if (stillMs > 0) await sleep(stillMs);
  // One that waits for its editor holds a lock for minutes.
  if (stillMs > 0 && (await gitWorksIn(checkout))) return;
  const after = await Promise.all(paths.map(stateOf));
  for (const [index, path] of paths.entries()) {
    if (before[index] !== undefined && before[index] === after[index]) await rm(path, { force: true });
  }
}

/** Where the system tells the processes; elsewhere the time alone does. */
async function gitWorksIn(checkout: string): Promise<boolean> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const works = pids.map(async (pid) => {
    const [name, cwd] = await Promise.all([readFile(`/proc/${pid}/comm`, "utf8"), readlink(`/proc/${pid}/cwd`)]);
    return name.trim() === "git" && `${cwd}/`.startsWith(`${checkout}/`);
  });
  // A process that has ended meanwhile, or is another user's, is none of ours.
  return (await Promise.allSettled(works)).some((one) => one.status === "fulfilled" && one.value);
}

async function stateOf(path: string): Promise<string | undefined> {
  try {
    const { ino, size, mtimeMs } = await stat(path);
    return `${ino} ${size} ${mtimeMs}`;
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
}
