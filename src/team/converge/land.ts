import { lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import { type Checkout, checkoutsOf } from "../../platform/checkouts.ts";
import { isErrno, readTextOrUndefined } from "../../platform/files.ts";
import { type GitResult, git, gitText } from "../../platform/git.ts";
import { GitKilled } from "../../platform/killed-git.ts";
import { removeLeftLocks } from "../../platform/left-locks.ts";
import { beginLanding, endLanding, takeBackLanding, undoCutLanding } from "./cut-landing.ts";
import { pathText } from "./path-text.ts";

export type LandRequest = {
  primary: string;
  /** The user's checkout that the team was started in. */
  checkout: string;
  branch: string;
  /** Where the branch was when the integration began, and what it is to become. */
  from: string;
  to: string;
  /** Who changed a path, for the words of a refusal. */
  changedBy: (path: string) => Promise<string>;
  signal: AbortSignal;
};
export type Landing =
  | { type: "landed"; where: string | undefined }
  | { type: "moved"; reason: string }
  | { type: "blocked"; reason: string };

/**
 * Moves the user's branch forward, all of it or nothing. Where it is checked out, files follow, but none that the user changed or
 * that git does not know is touched; a branch that is checked out nowhere only gets its new value.
 */
export async function land({ primary, checkout, branch, from, to, changedBy, signal }: LandRequest): Promise<Landing> {
  const ref = `refs/heads/${branch}`;
  const tip = (await git(primary, ["rev-parse", "--verify", "--quiet", `${ref}^{commit}`])).stdout.trim();
  if (tip !== from) return movedMeanwhile(branch, from, tip, to);
  const checkouts = await checkoutsOf(primary);
  const where = await checkoutOf(checkouts, checkout, branch);
  if (where === undefined) {
    const rebasing = await rebasedIn(checkouts, branch);
    if (rebasing !== undefined)
      return {
        type: "blocked",
        reason: `${branch} is being rebased in ${rebasing}. Finish that (git rebase --continue) or end it (git rebase --abort), then converge again.`,
      };
    const args = ["update-ref", "-m", "roocode: team converged", ref, to, from];
    const result = await git(primary, args).catch(async (error: unknown) => {
      if (!(error instanceof GitKilled)) throw error;
      // It may have left its lock, or have done it.
      await removeLeftLocks(primary, { branch });
      return git(primary, args);
    });
    const isThere = result.exitCode === 0 || (await git(primary, ["rev-parse", "--verify", "--quiet", ref])).stdout.trim() === to;
    return isThere ? { type: "landed", where } : movedMeanwhile(branch, from, "", to);
  }
  // Of an earlier one, which was killed in the middle of it.
  await undoCutLanding(where, tip);
  const blocked = await whatStandsInTheWay(where, from, to, changedBy);
  const byHand = `git -C ${quoted(where)} merge --ff-only ${to}`;
  if (blocked.length > 0) {
    return { type: "blocked", reason: `${blocked.join("\n")}\nNothing of yours was touched. Commit or move that away, then: ${byHand}` };
  }
  if (signal.aborted) return { type: "blocked", reason: `interrupted. By hand: ${byHand}` };
  const isTouched = async () => (await whatStandsInTheWay(where, from, to, changedBy)).length > 0;
  const attempt = () => fastForward(where, ref, to, isTouched);
  const result = (await attempt()) ?? (await attempt());
  if (result === "elsewhere")
    return {
      type: "moved",
      reason: `${branch} is not checked out in ${where} any more, so nothing was touched there. Converge again, or merge by hand: git merge ${to}`,
    };
  const now = await gitText(primary, ["rev-parse", "--verify", ref]);
  if (result?.exitCode === 0 && now === to) return { type: "landed", where };
  if (now !== from) return movedMeanwhile(branch, from, now, to);
  const why = result ? `git refused: ${(result.stderr || result.stdout).trim().slice(0, 1000)}` : "git was killed twice.";
  return { type: "blocked", reason: `${why}\nNothing of yours was touched. By hand: ${byHand}` };
}

/**
 * Undefined when git was killed, "elsewhere" when the person has switched to another branch meanwhile. What a git that was killed or gave
 * up in the middle had done by then is taken back.
 */
async function fastForward(
  where: string,
  ref: string,
  to: string,
  isTouched: () => Promise<boolean>,
): Promise<GitResult | "elsewhere" | undefined> {
  await beginLanding(where, to);
  try {
    // Git moves whatever HEAD is on.
    if ((await git(where, ["symbolic-ref", "--quiet", "HEAD"])).stdout.trim() !== ref) {
      await endLanding(where);
      return "elsewhere";
    }
    // They beat the person's settings (merge.*, branch.<name>.mergeOptions), and keep what the look before may have missed: nothing is
    // stashed, ignored files are not overwritten.
    const options = [
      "--ff-only",
      "--no-squash",
      "--no-autostash",
      "--no-overwrite-ignore",
      "--no-verify-signatures",
      "--no-stat",
      "--quiet",
    ];
    const result = await git(where, ["merge", ...options, to]);
    // It writes the files first: where the branch can't be moved then (a lock on it), they are there without it.
    if (result.exitCode !== 0 && (await isTouched())) await takeBackLanding(where, await headOf(where), to);
    await endLanding(where);
    return result;
  } catch {
    await undoCutLanding(where, await headOf(where));
    return undefined;
  }
}

async function headOf(where: string): Promise<string> {
  return gitText(where, ["rev-parse", "--verify", "HEAD"]);
}

/** The checkout in which a rebase of the branch is under way: HEAD is detached there, and git wants the branch unmoved at its end. */
async function rebasedIn(checkouts: readonly Checkout[], branch: string): Promise<string | undefined> {
  for (const { path } of checkouts.filter((one) => one.branch === undefined)) {
    const asked = ["rebase-merge", "rebase-apply"].flatMap((state) => ["--git-path", `${state}/head-name`]);
    const names = await git(path, ["rev-parse", "--path-format=absolute", ...asked]);
    for (const file of names.stdout.trim().split("\n"))
      if ((await readTextOrUndefined(file))?.trim() === `refs/heads/${branch}`) return path;
  }
  return undefined;
}

function movedMeanwhile(branch: string, from: string, tip: string, to: string): Landing {
  const now = tip === "" ? "is gone or moved" : `is at ${tip.slice(0, 10)} now`;
  return {
    type: "moved",
    reason: `${branch} ${now}, it was at ${from.slice(0, 10)} when the merging began, so it was left alone. Converge again, or merge by hand: git merge ${to}`,
  };
}

/** The user's checkout when the branch is out there, else the worktree that has it. */
async function checkoutOf(checkouts: readonly Checkout[], checkout: string, branch: string): Promise<string | undefined> {
  const having = checkouts.filter((one) => one.branch === branch);
  const own = await realpath(checkout).catch(() => checkout);
  for (const { path } of having) if ((await realpath(path).catch(() => path)) === own) return path;
  return having[0]?.path;
}

/** One line for each path of the user's that the new commits would touch. */
async function whatStandsInTheWay(
  checkout: string,
  from: string,
  to: string,
  changedBy: (path: string) => Promise<string>,
): Promise<string[]> {
  const incoming = await changesBetween(checkout, from, to);
  const dirty = await dirtyPaths(checkout);
  const tracked = (path: string) => incoming.get(path) !== "A";
  const found: string[] = [];
  for (const [path, status] of incoming) {
    if (dirty.has(path))
      found.push(`${pathText(path)} has changes of yours that are not committed, and ${await changedBy(path)} changed it too.`);
    else if (status !== "D" && !tracked(path)) {
      const other = await untrackedAt(checkout, path, incoming);
      if (other)
        found.push(
          `${pathText(other.path)} is ${other.state} by git, and ${await changedBy(path)} added ${other.path === path ? "a file of that name" : pathText(path)}.`,
        );
    }
  }
  return found;
}

/** Path to git's letter for what happened to it, from one commit to another, or in `FROM...TO`. */
export async function changesBetween(repository: string, ...commits: readonly string[]): Promise<Map<string, string>> {
  const { stdout } = await git(repository, ["diff", "--name-status", "--no-renames", "-z", ...commits]);
  const parts = stdout.split("\0");
  const changes = new Map<string, string>();
  for (let index = 0; index + 1 < parts.length; index += 2) changes.set(parts[index + 1] ?? "", parts[index] ?? "");
  return changes;
}

/** Tracked paths that differ from HEAD, staged or not. */
async function dirtyPaths(checkout: string): Promise<Set<string>> {
  const { stdout } = await git(checkout, ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=no"]);
  return new Set(stdout.split("\0").flatMap((entry) => (entry.length > 3 ? [entry.slice(3)] : [])));
}

/** A file of the user's that git does not track, where a new file or one of its folders is to be. */
async function untrackedAt(
  checkout: string,
  path: string,
  incoming: ReadonlyMap<string, string>,
): Promise<{ path: string; state: string } | undefined> {
  const segments = path.split("/");
  for (let depth = 1; depth <= segments.length; depth += 1) {
    const part = segments.slice(0, depth).join("/");
    const kind = await kindOf(join(checkout, part));
    if (kind === "nothing") return undefined;
    if (kind === "folder" && depth < segments.length) continue;
    if (kind === "folder") {
      const { stdout } = await git(checkout, ["--literal-pathspecs", "ls-files", "--others", "-z", "--", part]);
      const inside = stdout.split("\0").filter((name) => name !== "");
      return inside[0] === undefined ? undefined : { path: inside[0], state: "not tracked" };
    }
    // A tracked file that the team replaces by a folder.
    if (incoming.get(part) === "D") return undefined;
    const isIgnored = (await git(checkout, ["check-ignore", "--quiet", "--", part])).exitCode === 0;
    return { path: part, state: isIgnored ? "ignored" : "not tracked" };
  }
  return undefined;
}

async function kindOf(path: string): Promise<"nothing" | "folder" | "file"> {
  try {
    return (await lstat(path)).isDirectory() ? "folder" : "file";
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return "nothing";
    throw error;
  }
}

export function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
