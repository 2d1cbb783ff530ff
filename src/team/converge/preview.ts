import { git, gitText } from "../../platform/git.ts";
import { changesBetween } from "./land.ts";

export type MergePreview = {
  /** Tree that git makes by itself; with markers where it can't. */
  tree: string;
  conflicts: string[];
  /** Of the conflicts, those without markers in them: git keeps one side and says nothing in the file. */
  binary: string[];
};

/** What `git merge` of the two would do, without a checkout. Both are ids of commits. */
export async function previewMerge(repository: string, ours: string, theirs: string): Promise<MergePreview> {
  const result = await git(repository, ["merge-tree", "--write-tree", "--allow-unrelated-histories", "-z", "--name-only", ours, theirs]);
  const [tree = "", ...rest] = result.stdout.split("\0");
  if (result.exitCode > 1 || !/^[0-9a-f]{40,64}$/.test(tree))
    throw new Error(`git merge-tree failed: ${result.stderr.trim().slice(0, 500)}`);
  if (result.exitCode === 0) return { tree, conflicts: [], binary: [] };
  const end = rest.indexOf("");
  const conflicts = [...new Set(rest.slice(0, end === -1 ? rest.length : end))];
  return { tree, conflicts, binary: await binaryFiles(repository, ours, theirs, conflicts) };
}

async function binaryFiles(repository: string, ours: string, theirs: string, files: readonly string[]): Promise<string[]> {
  if (files.length === 0) return [];
  const { stdout } = await git(repository, [
    "--literal-pathspecs",
    "diff",
    "--numstat",
    "--no-renames",
    "-z",
    ours,
    theirs,
    "--",
    ...files,
  ]);
  return stdout.split("\0").flatMap((line) => (line.startsWith("-\t-\t") ? [line.slice(4)] : []));
}

export type PairPreview = { names: [string, string]; conflicts: string[] };
export type BranchPreview = {
  name: string;
  branch: string;
  tip: string;
  /** Where it left the base. */
  fork: string;
  commits: string[];
  /** Path to git's letter, since then. */
  changes: ReadonlyMap<string, string>;
  conflicts: string[];
};

const MOST_COMMITS = 30;

/** Each branch against the base, and each two of them against each other; no dry run where nothing can meet. */
export async function previewBranches(
  repository: string,
  base: string,
  branches: readonly { name: string; branch: string; tip: string }[],
): Promise<{ branches: BranchPreview[]; pairs: PairPreview[] }> {
  const previews: BranchPreview[] = [];
  for (const one of branches) {
    const { commits, forks } = await commitsOf(repository, base, one.tip);
    const fork = forks.length === 1 && forks[0] !== undefined ? forks[0] : await forkPoint(repository, base, one.tip);
    const changes = await changesBetween(repository, fork, one.tip);
    const conflicts = fork === base ? [] : (await previewMerge(repository, base, one.tip)).conflicts;
    previews.push({ ...one, fork, commits: commits.slice(-MOST_COMMITS), changes, conflicts });
  }
  const pairs: PairPreview[] = [];
  for (const [index, first] of previews.entries()) {
    for (const second of previews.slice(index + 1)) {
      if (!mayMeet(first, second)) continue;
      const { conflicts } = await previewMerge(repository, first.tip, second.tip);
      if (conflicts.length > 0) pairs.push({ names: [first.name, second.name], conflicts });
    }
  }
  return { branches: previews, pairs };
}

/** The branch's own commits, oldest first, and those of the base that they stand on. */
async function commitsOf(repository: string, base: string, tip: string): Promise<{ commits: string[]; forks: string[] }> {
  const args = ["log", "--no-show-signature", "--reverse", "--boundary", "--format=%m%H %h %s", `${base}..${tip}`];
  const lines = (await gitText(repository, args)).split("\n").filter((line) => line !== "");
  const [bounds, own] = [lines.filter((line) => line.startsWith("-")), lines.filter((line) => !line.startsWith("-"))];
  return {
    commits: own.map((line) => line.slice(line.indexOf(" ") + 1)),
    forks: bounds.map((line) => line.slice(1, line.indexOf(" "))),
  };
}

async function forkPoint(repository: string, base: string, tip: string): Promise<string> {
  const found = await git(repository, ["merge-base", base, tip]);
  return found.exitCode === 0 ? found.stdout.trim() : base;
}

/**
 * Whether a merge of the two could be in conflict at all: from one fork on, they change the same path, or one has a file where the other
 * has a folder, or one may have renamed (a new file of the other can follow a renamed folder).
 */
function mayMeet(first: BranchPreview, second: BranchPreview): boolean {
  const mayRename = ({ changes }: BranchPreview) => [...changes.values()].includes("A") && [...changes.values()].includes("D");
  if (first.fork !== second.fork || mayRename(first) || mayRename(second)) return true;
  const touches = (one: BranchPreview, other: BranchPreview) => {
    const places = new Set([...other.changes.keys()].flatMap(pathAndFolders));
    return [...one.changes.keys()].some((path) => places.has(path));
  };
  return touches(first, second) || touches(second, first);
}

/** "a/b/c" gives "a", "a/b" and "a/b/c". */
function pathAndFolders(path: string): string[] {
  const parts = path.split("/");
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}
