import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { git } from "./git.ts";

export type Checkout = {
  path: string;
  head: string | undefined;
  /** Undefined when HEAD is detached. */
  branch: string | undefined;
  /** Why git keeps it from being pruned. */
  lock: string | undefined;
};

/** All checkouts that git knows of a repository, those whose folder is gone too: git forgets them with the next prune. */
export async function checkoutsOf(repository: string): Promise<Checkout[]> {
  const { stdout } = await git(repository, ["worktree", "list", "--porcelain", "-z"]);
  return stdout.split("\0\0").flatMap((record) => {
    const lines = record.split("\0");
    const value = (key: string) => lines.find((line) => line.startsWith(`${key} `))?.slice(key.length + 1);
    const path = value("worktree");
    if (path === undefined) return [];
    return [{ path, head: value("HEAD"), branch: value("branch")?.replace("refs/heads/", ""), lock: value("locked") }];
  });
}

/** The one at a place, be its folder there or gone. */
export async function checkoutAt(checkouts: readonly Checkout[], path: string): Promise<Checkout | undefined> {
  const real = join(await realpath(dirname(path)).catch(() => dirname(path)), basename(path));
  return checkouts.find((one) => one.path === path || one.path === real);
}

/** HEAD of a worktree whose folder is gone; undefined where git knows it no more. */
export async function lastHeadOf(repository: string, checkouts: readonly Checkout[], path: string): Promise<string | undefined> {
  const head = (await checkoutAt(checkouts, path))?.head;
  return head !== undefined && (await git(repository, ["cat-file", "-e", `${head}^{commit}`])).exitCode === 0 ? head : undefined;
}
