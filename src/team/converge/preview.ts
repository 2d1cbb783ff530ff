import { git, gitText } from "../../platform/git.ts";

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
export type BranchPreview = { name: string; branch: string; tip: string; commits: string[]; files: string[]; conflicts: string[] };

/** Each branch against the base, and each two of them against each other. */
export async function previewBranches(
  repository: string,
  base: string,
  branches: readonly { name: string; branch: string; tip: string }[],
): Promise<{ branches: BranchPreview[]; pairs: PairPreview[] }> {
  const previews: BranchPreview[] = [];
  for (const one of branches) {
    const log = await gitText(repository, [
      "log",
      "--no-show-signature",
      "--reverse",
      "--max-count=30",
      "--format=%h %s",
      `${base}..${one.tip}`,
    ]);
    const { conflicts } = await previewMerge(repository, base, one.tip);
    previews.push({ ...one, commits: lines(log), files: await changedFiles(repository, base, one.tip), conflicts });
  }
  const pairs: PairPreview[] = [];
  for (const [index, first] of previews.entries()) {
    for (const second of previews.slice(index + 1)) {
      const { conflicts } = await previewMerge(repository, first.tip, second.tip);
      if (conflicts.length > 0) pairs.push({ names: [first.name, second.name], conflicts });
    }
  }
  return { branches: previews, pairs };
}

/** Paths that `tip` changed since it left `base`. */
export async function changedFiles(repository: string, base: string, tip: string): Promise<string[]> {
  const text = await git(repository, ["diff", "--name-only", "--no-renames", "-z", `${base}...${tip}`]);
  return text.stdout.split("\0").filter((name) => name !== "");
}

function lines(text: string): string[] {
  return text === "" ? [] : text.split("\n");
}
