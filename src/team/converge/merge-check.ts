import { git } from "../../platform/git.ts";
import { pathsText } from "./path-text.ts";
import { type MergePreview, previewMerge } from "./preview.ts";
import { takenBack, wholeSides } from "./whole-sides.ts";

const MOST_NAMED = 10;

type MergeProblem = { reason: string; conflicts: string[] };
/** `choices`: files of which a whole side was taken. */
type Verdict = { problem: MergeProblem } | { choices: string[] };

/** Longer ones where `conflict-marker-size` is set. */
const MARKER = "^(<{7,}|>{7,}|[|]{7,}) |^={7}\r?$";

/** A commit of the integrator, as it stands in the repository. */
export type Made = { id: string; tree: string; parents: readonly string[] };

/**
 * Why a commit of the integrator can't stay: markers left in it, files that no side has, changes of a side that are left out, binary
 * conflicts that nobody decided. `chosen` are files for which a side was named in a command; `start` is where the merging began.
 */
export async function judgeCommit(
  repository: string,
  { id: commit, tree, parents: [ours, theirs, more] }: Made,
  start: string,
  chosen: readonly string[],
): Promise<Verdict> {
  if (ours === undefined) return { choices: [] };
  const refuse = (reason: string, inConflict: string[] = []): Verdict => ({ problem: { reason, conflicts: inConflict } });
  if (theirs === undefined) {
    const reason = await plainCommitProblem(repository, ours, commit, start);
    return reason === undefined ? { choices: [] } : refuse(reason);
  }
  if (more !== undefined) return refuse("It merges several branches at once. Merge one branch at a time.");
  const preview = await previewMerge(repository, ours, theirs);
  const { conflicts } = preview;
  const changed = preview.tree === tree ? [] : await differing(repository, preview.tree, commit);
  const looked = [...new Set([...conflicts, ...changed])];

  const marked: string[] = [];
  for (const file of looked) if (await hasNewMarkers(repository, file, commit, ours, theirs)) marked.push(file);
  if (marked.length > 0) {
    return refuse(
      `Conflict markers were committed in ${pathsText(marked)}. Edit each file so that both intents hold, then add it by name.`,
      conflicts,
    );
  }
  const isNamed = (file: string) =>
    chosen.some((word) => file === word || file.endsWith(`/${word}`) || file.startsWith(`${word.replace(/\/$/, "")}/`));
  const sides = await wholeSides(repository, { commit, ours, theirs, tree: preview.tree }, { conflicts, changed, isNamed });
  const binary = preview.binary.filter((file) => !isNamed(file));
  const undecided = [...new Set([...binary, ...sides.undecided])];
  if (undecided.length > 0) {
    const what = binary.length > 0 ? "is binary and in conflict" : "is in conflict without markers";
    return refuse(
      `${pathsText(undecided)} ${what}: git keeps one side without a word. Choose with git checkout --ours|--theirs ${undecided[0]}, git add it by name and say so in your report; or ask, with AskUserQuestion.`,
      conflicts,
    );
  }
  const swept = await inNeither(repository, changed, commit, ours, theirs, preview);
  if (swept.length > 0)
    return refuse(`It holds files that no side has: ${pathsText(swept)}. Add only files of the conflict, each by name.`, conflicts);
  if (sides.dropped.length > 0) {
    return refuse(
      `It leaves out what a side has in ${pathsText(sides.dropped, MOST_NAMED)}. Merge again without a strategy of your own, and keep what both sides did; a file that must go is named: git rm FILE.`,
      conflicts,
    );
  }
  return { choices: sides.choices };
}

async function plainCommitProblem(repository: string, parent: string, commit: string, start: string): Promise<string | undefined> {
  const gone = await takenBack(repository, start, parent, commit);
  if (gone.length > 0) return `It takes back what was merged in ${pathsText(gone, MOST_NAMED)}.`;
  const { stdout } = await git(repository, ["diff", "--check", "--no-ext-diff", "--no-textconv", parent, commit]);
  const left = [...new Set(stdout.split("\n").flatMap((line) => /^(.+):\d+: leftover conflict marker$/.exec(line)?.[1] ?? []))];
  return left.length === 0 ? undefined : `Conflict markers were committed in ${left.join(", ")}.`;
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

/** Counted by git: a file may be larger than what we hold. */
async function markers(repository: string, commit: string, file: string): Promise<number> {
  const args = ["grep", "--no-color", "--count", "--text", "-h", "-E", "-e", MARKER, commit, "--", `:(top,literal)${file}`];
  return Number((await git(repository, args)).stdout.trim());
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
