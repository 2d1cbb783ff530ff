import { join } from "node:path";
import { commitAll } from "../platform/commit.ts";
import { exists } from "../platform/files.ts";
import { git, gitText } from "../platform/git.ts";
import { addWorktree, restoreWorktree } from "../platform/worktree.ts";
import { UserError } from "../protocol/errors.ts";
import { commandMark } from "../team/left-commands.ts";
import { unsavedIn } from "../team/rescue.ts";
import type { Place } from "../team/worktree-needs.ts";
import type { Surroundings } from "./surroundings.ts";
import { worktreeLock } from "./worktree-lock.ts";
import { worktreeNeeds } from "./worktree-needs.ts";

export type SubagentWorktree = { path: string; branch: string; base: string };

type Making = { onNote: (text: string) => void; signal: AbortSignal };

/** No team can have this name. */
const FOLDER = ".agents";
const DIFF_LINES = 30;

/** A worktree with a branch of its own, from what the caller's checkout has committed. */
export async function makeWorktree(surroundings: Surroundings, id: string, make: Making): Promise<SubagentWorktree> {
  const { repository, projectRoot, root, data } = surroundings;
  if (!repository) throw new UserError("isolation: worktree needs a git repository, and this folder is in none.");
  const head = await git(root, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  if (head.exitCode !== 0) throw new UserError("isolation: worktree needs a commit to begin from, and this repository has none yet.");
  const worktree = { path: join(data.teamWorktrees(projectRoot, FOLDER), id), branch: `worktree-${id}`, base: head.stdout.trim() };
  await add(surroundings, worktree, make);
  return worktree;
}

/** For a sub-agent that goes on: the same place, made anew where it was taken away. */
export async function bringBack(surroundings: Surroundings, worktree: SubagentWorktree, make: Making): Promise<void> {
  const { projectRoot } = surroundings;
  if (await exists(worktree.path)) return;
  const { path, branch } = worktree;
  const hasBranch = (await git(projectRoot, ["show-ref", "--verify", "--quiet", `refs/heads/${branch}`])).exitCode === 0;
  if (!hasBranch) return add(surroundings, worktree, make);
  await restoreWorktree({ primary: projectRoot, path, branch, lockPath: worktreeLock(surroundings, projectRoot) });
  await equip(surroundings, path, make);
}

/** For the environment of its commands. */
export async function worktreeVariables(surroundings: Surroundings, { path }: SubagentWorktree): Promise<NodeJS.ProcessEnv> {
  const { portsOf } = await equipment();
  return commandMark({ worktreePath: path, ports: await portsOf(await placeOf(surroundings, path)) });
}

/**
 * Commits what was left, and takes the folder away if nothing is lost by that: what is committed stays on the branch, a branch without a
 * commit goes too. Gives what the caller should know.
 */
export async function leaveWorktree(
  surroundings: Surroundings,
  worktree: SubagentWorktree,
  subject: string,
  id: string,
): Promise<string[]> {
  const { projectRoot } = surroundings;
  const { path, branch, base } = worktree;
  const on = (await git(path, ["symbolic-ref", "--quiet", "HEAD"])).stdout.trim();
  if (on !== `refs/heads/${branch}`)
    return [`Its worktree ${path} is not on ${branch} but on ${on.replace("refs/heads/", "") || "a detached HEAD"}; it stays as it is`];
  if ((await gitText(path, ["ls-files", "--unmerged"])) !== "")
    return [`Its worktree ${path} holds a merge that is not finished; it stays`];
  await commitAll(path, { subject: `agent: ${subject}`, trailers: { "RooCode-Agent": id } });
  const { head: tip, unsaved } = await unsavedIn(path, projectRoot);
  const lines = tip === base ? [] : await changesText(path, worktree);
  if (unsaved.length > 0)
    return [...lines, `Its worktree ${path} stays: no commit holds ${unsaved.slice(0, 5).join(", ")}${unsaved.length > 5 ? ", …" : ""}`];
  const { dismantleWorktree } = await equipment();
  const notes = await dismantleWorktree(await placeOf(surroundings, path), worktreeLock(surroundings, projectRoot));
  if (tip !== base) return [...lines, ...notes];
  await git(projectRoot, ["branch", "-D", branch]);
  return ["It changed nothing; its worktree and branch are taken away", ...notes];
}

async function changesText(path: string, { branch, base }: SubagentWorktree): Promise<string[]> {
  const count = await gitText(path, ["rev-list", "--count", `${base}..HEAD`]);
  const stat = (await gitText(path, ["diff", "--stat", `${base}..HEAD`])).split("\n");
  const shown = stat.length > DIFF_LINES ? [...stat.slice(0, DIFF_LINES), "…", stat.at(-1) ?? ""] : stat;
  return [
    `Branch ${branch}: ${count} ${count === "1" ? "commit" : "commits"} on ${base.slice(0, 10)}, not merged. You decide: git merge ${branch}\n${shown.join("\n")}`,
  ];
}

async function add(surroundings: Surroundings, { path, branch, base }: SubagentWorktree, make: Making): Promise<void> {
  const { projectRoot } = surroundings;
  try {
    await addWorktree({ primary: projectRoot, path, branch, commit: base, lockPath: worktreeLock(surroundings, projectRoot) });
    await equip(surroundings, path, make).catch(async (error: unknown) => {
      await git(projectRoot, ["branch", "-D", branch]);
      throw error;
    });
  } catch (error) {
    throw new UserError(`There is no worktree for it: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

async function equip(surroundings: Surroundings, path: string, { onNote, signal }: Making): Promise<void> {
  const { equipWorktree, dismantleWorktree } = await equipment();
  const place = await placeOf(surroundings, path);
  try {
    for (const note of (await equipWorktree(place, signal)).notes) onNote(note);
  } catch (error) {
    for (const note of await dismantleWorktree(place, worktreeLock(surroundings, surroundings.projectRoot))) onNote(note);
    throw error;
  }
}

/** Most sessions have no worktree of their own. */
function equipment() {
  return import("../team/worktree-needs.ts");
}

async function placeOf(surroundings: Surroundings, path: string): Promise<Place> {
  return { primary: surroundings.projectRoot, path, needs: await worktreeNeeds(surroundings) };
}
