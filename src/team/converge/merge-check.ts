import { git } from "../../platform/git.ts";
import { type MergePreview, previewMerge } from "./preview.ts";

export type MergeProblem = { reason: string; conflicts: string[] };

const MARKER = /^(?:<{7}|>{7}|\|{7}) |^={7}$/gm;

/** A commit of the integrator, as it stands in the repository. */
export type Made = { id: string; tree: string; parents: readonly string[] };

/**
 * Why a commit of the integrator can't stay: markers left in it, files that no side has, binary conflicts that nobody decided.
 * `chosen` are files for which a side was named in a command.
 */
export async function commitProblem(
  repository: string,
  { id: commit, tree, parents: [ours, theirs, more] }: Made,
  chosen: readonly string[],
): Promise<MergeProblem | undefined> {
  if (ours === undefined) return undefined;
  if (theirs === undefined) return plainCommitProblem(repository, ours, commit);
  if (more !== undefined) return { reason: "It merges several branches at once. Merge one branch at a time.", conflicts: [] };
  const preview = await previewMerge(repository, ours, theirs);
  const { conflicts } = preview;
  const changed = preview.tree === tree ? [] : await differing(repository, preview.tree, commit);
  const looked = [...new Set([...conflicts, ...changed])];

  const marked: string[] = [];
  for (const file of looked) if (await hasNewMarkers(repository, file, commit, ours, theirs)) marked.push(file);
  if (marked.length > 0) {
    return {
      reason: `Conflict markers were committed in ${marked.join(", ")}. Edit each file so that both intents hold, then add it by name.`,
      conflicts,
    };
  }
  const undecided = preview.binary.filter((file) => !chosen.some((word) => file === word || file.endsWith(`/${word}`)));
  if (undecided.length > 0) {
    return {
      reason: `${undecided.join(", ")} is binary and in conflict: git keeps one side without a word. Choose with git checkout --ours|--theirs ${undecided[0]}, git add it by name and say so in your report; or ask, with AskUserQuestion.`,
      conflicts,
    };
  }
  const swept = await inNeither(repository, changed, commit, ours, theirs, preview);
  if (swept.length > 0)
    return { reason: `It holds files that no side has: ${swept.join(", ")}. Add only files of the conflict, each by name.`, conflicts };
  return undefined;
}

async function plainCommitProblem(repository: string, parent: string, commit: string): Promise<MergeProblem | undefined> {
  const { stdout } = await git(repository, ["diff", "--check", "--no-ext-diff", "--no-textconv", parent, commit]);
  const left = [...new Set(stdout.split("\n").flatMap((line) => /^(.+):\d+: leftover conflict marker$/.exec(line)?.[1] ?? []))];
  return left.length === 0 ? undefined : { reason: `Conflict markers were committed in ${left.join(", ")}.`, conflicts: [] };
}

/** Files that the commit has otherwise than git's own merge. */
async function differing(repository: string, tree: string, commit: string): Promise<string[]> {
  const { stdout } = await git(repository, ["diff-tree", "-r", "--no-renames", "--name-only", "-z", tree, commit]);
  return stdout.split("\0").filter((name) => name !== "");
}

/** More markers than both sides bring: a file that is about markers may have some of its own. */
async function hasNewMarkers(repository: string, file: string, commit: string, ours: string, theirs: string): Promise<boolean> {
  const found = await markers(repository, commit, file);
  if (found === 0) return false;
  const base = await git(repository, ["merge-base", ours, theirs]);
  const before = base.exitCode === 0 ? await markers(repository, base.stdout.trim(), file) : 0;
  return found > (await markers(repository, ours, file)) + (await markers(repository, theirs, file)) - before;
}

async function markers(repository: string, commit: string, file: string): Promise<number> {
  const blob = await git(repository, ["cat-file", "blob", `${commit}:${file}`]);
  return blob.exitCode === 0 ? (blob.stdout.replaceAll("\r\n", "\n").match(MARKER)?.length ?? 0) : 0;
}

async function inNeither(
  repository: string,
  files: readonly string[],
  commit: string,
  ours: string,
  theirs: string,
  preview: MergePreview,
): Promise<string[]> {
  const swept: string[] = [];
  for (const file of files) {
    if (preview.conflicts.includes(file) || !(await has(repository, commit, file))) continue;
    if (!(await has(repository, ours, file)) && !(await has(repository, theirs, file)) && !(await has(repository, preview.tree, file)))
      swept.push(file);
  }
  return swept;
}

async function has(repository: string, treeish: string, file: string): Promise<boolean> {
  return (await git(repository, ["cat-file", "-e", `${treeish}:${file}`])).exitCode === 0;
}
