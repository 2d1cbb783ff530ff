import type { TeamConfig, TeamTask } from "../../protocol/team.ts";
import { pathsText } from "./path-text.ts";
import type { BranchPreview, PairPreview } from "./preview.ts";

export type PromptFacts = {
  team: TeamConfig;
  start: string;
  worktree: string;
  branches: readonly BranchPreview[];
  pairs: readonly PairPreview[];
  tasks: readonly TeamTask[];
  /** Merged by an earlier Converge and still there. */
  before: readonly string[];
  guidance?: string | undefined;
};

const MOST_FILES = 30;

/** The integrator's first message: what there is to merge, and what the dry run says about it. */
export function integratorPrompt({ team, start, worktree, branches, pairs, tasks, before, guidance }: PromptFacts): string {
  const parts = [
    `Merge the branches of team "${team.name}" in ${worktree}. HEAD is detached at ${start.slice(0, 12)}, the tip of ${team.baseBranch}${before.length > 0 ? `, with the merges of ${before.join(", ")} on top` : ""}.`,
    `The team's goal: ${team.goal}`,
    team.check === undefined
      ? "No check was given, so nothing is run after a merge: read what you merge."
      : `After each merge the system runs the check: ${team.check}`,
    ...branches.map((branch) => describeBranch(branch, tasks)),
    pairs.length === 0
      ? "By the dry run no two branches conflict with each other."
      : `Conflicts by the dry run:\n${pairs.map(describePair).join("\n")}`,
    ...(guidance === undefined || guidance.trim() === "" ? [] : [`The lead says: ${guidance}`]),
    ...mergeCommands(branches, pairs),
  ];
  return parts.join("\n\n");
}

/** What the dry run shows without a conflict takes one turn of the model, not one each. */
function mergeCommands(branches: readonly BranchPreview[], pairs: readonly PairPreview[]): string[] {
  const isContested = ({ name, conflicts }: BranchPreview) => conflicts.length > 0 || pairs.some(({ names }) => names.includes(name));
  const lines = (some: readonly BranchPreview[]) =>
    some.map(({ name, branch }) => `git merge --no-ff -m "merge: ${name}" ${branch}`).join("\n");
  const alone = branches.filter(isContested);
  const together = branches.filter((branch) => !isContested(branch));
  return [
    ...(together.length > 0
      ? [`Without a conflict, all in one turn, a Bash call each, in the order that you choose:\n${lines(together)}`]
      : []),
    ...(alone.length > 0 ? [`One at a time, in the order that you choose:\n${lines(alone)}`] : []),
  ];
}

function describeBranch({ name, branch, commits, changes, conflicts }: BranchPreview, tasks: readonly TeamTask[]): string {
  const files = [...changes.keys()];
  const own = tasks.filter((task) => task.owner === name).map((task) => `task ${task.id} (${task.status}): ${task.subject}`);
  return [
    `${name}, branch ${branch}:`,
    ...own.map((line) => `- ${line}`),
    ...commits.map((line) => `- ${line}`),
    `- files: ${pathsText(files, MOST_FILES)}`,
    conflicts.length === 0 ? "- merges cleanly onto the base" : `- conflicts with the base in: ${pathsText(conflicts)}`,
  ].join("\n");
}

function describePair({ names, conflicts }: PairPreview): string {
  return `- ${names[0]} and ${names[1]}: ${pathsText(conflicts)}`;
}

/** Rules that hold in the integration worktree alone: the git of merging, and edits of files that can be in conflict. */
export function integratorGrants(branches: readonly BranchPreview[]): string[] {
  const read = ["status", "diff", "log", "show", "branch --no-merged", "rev-parse", "merge-tree"];
  const write = ["merge --abort", "add", "checkout --ours", "checkout --theirs", "commit"];
  const merges = branches.flatMap(({ branch }) => [`merge --no-ff ${branch}`, `merge --no-ff * ${branch}`]);
  return [
    ...read.map((command) => `Bash(git ${command} *)`),
    ...merges.map((command) => `Bash(git ${command})`),
    ...write.map((command) => (command === "merge --abort" ? `Bash(git ${command})` : `Bash(git ${command} *)`)),
    ...contested(branches).map((file) => `EditFile(/${escaped(file)})`),
  ];
}

/** Files that more than one side touched, which is more than the dry run's conflicts: a third branch can bring another. */
function contested(branches: readonly BranchPreview[]): string[] {
  const seen = new Set<string>();
  const found = new Set(branches.flatMap((branch) => branch.conflicts));
  for (const { changes } of branches) {
    for (const file of changes.keys()) {
      if (seen.has(file)) found.add(file);
      seen.add(file);
    }
  }
  return [...found].sort();
}

/** A rule's path can't spell these characters as themselves; `?` is any one. */
function escaped(path: string): string {
  return path.replace(/[\\*?[]/g, "?");
}
