import { GitError, git } from "./git.ts";

type Kind = "changed" | "unmerged" | "untracked" | "ignored";
/** A path that ends in "/" is a folder: a repository of its own, or one that is ignored as a whole. */
export type WorktreeEntry = { path: string; kind: Kind };
export type WorktreeState = {
  /** Undefined before the first commit. */
  head: string | undefined;
  /** Undefined when HEAD is detached. */
  branch: string | undefined;
  /** Beside the commits. */
  entries: WorktreeEntry[];
};

const FIELDS: Record<string, [kind: Kind, before: number]> = {
  "1": ["changed", 8],
  u: ["unmerged", 10],
  "?": ["untracked", 1],
  "!": ["ignored", 1],
};

/** HEAD and what lies in a worktree beside it, by one git. Throws GitError. */
export async function worktreeState(path: string, options: readonly string[] = []): Promise<WorktreeState> {
  const args = ["status", "--porcelain=v2", "--branch", "--no-ahead-behind", "-z", "--no-renames", "--untracked-files=all", ...options];
  const result = await git(path, args);
  if (result.exitCode !== 0) throw new GitError(args, result);
  const state: WorktreeState = { head: undefined, branch: undefined, entries: [] };
  for (const line of result.stdout.split("\0")) {
    const words = line.split(" ");
    const [type = "", key, ...value] = words;
    const text = value.join(" ");
    if (type === "#" && key === "branch.oid" && text !== "(initial)") state.head = text;
    if (type === "#" && key === "branch.head" && text !== "(detached)") state.branch = text;
    const [kind, before] = FIELDS[type] ?? [];
    if (kind !== undefined) state.entries.push({ kind, path: words.slice(before).join(" ") });
  }
  return state;
}
