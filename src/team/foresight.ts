import { existsSync } from "node:fs";
import { git } from "../platform/git.ts";
import type { TeamConfig, TeammateInfo } from "../protocol/team.ts";

export type FilesOf = { name: string; files: string[] };
export type Overlap = { file: string; members: string[] };

/** Per member: two short runs of git. Members without a worktree have nothing that could still change. */
export async function filesOfMembers({ members, baseBranch }: Pick<TeamConfig, "members" | "baseBranch">): Promise<FilesOf[]> {
  return Promise.all(members.map(async (member) => ({ name: member.name, files: await filesOf(member, baseBranch) })));
}

/** What the member has changed and the user's branch has not: committed, staged, edited, new; paths from the top of the checkout. */
export async function filesOf({ worktreePath, baseCommit }: TeammateInfo, baseBranch: string): Promise<string[]> {
  if (!existsSync(worktreePath)) return [];
  const diff = (base: string) => git(worktreePath, ["diff", "--name-only", "--no-renames", "-z", "--merge-base", base]);
  const [ofBranch, untracked] = await Promise.all([
    diff(`refs/heads/${baseBranch}`),
    git(worktreePath, ["ls-files", "--others", "--exclude-standard", "--full-name", "-z"]),
  ]);
  // The user may have renamed the branch.
  const tracked = ofBranch.exitCode === 0 ? ofBranch : await diff(baseCommit);
  const names = `${tracked.stdout}${untracked.stdout}`.split("\0");
  return [...new Set(names)].filter((name) => name !== "" && name !== "node_modules").sort();
}

/** Files that more than one member changes. */
export function overlapsOf(all: readonly FilesOf[]): Overlap[] {
  const members = new Map<string, string[]>();
  for (const { name, files } of all) for (const file of files) members.set(file, [...(members.get(file) ?? []), name]);
  return [...members]
    .filter(([, names]) => names.length > 1)
    .map(([file, names]) => ({ file, members: names }))
    .sort((one, other) => (one.file < other.file ? -1 : 1));
}

const MOST_FILES = 5;

/** One line for those who share files: "alice and bob both change src/a.ts, src/b.ts". */
export function overlapLines(overlaps: readonly Overlap[]): string[] {
  const files = new Map<string, string[]>();
  for (const { file, members } of overlaps) {
    const who = members.length === 2 ? `${members.join(" and ")} both` : `${members.slice(0, -1).join(", ")} and ${members.at(-1)} all`;
    files.set(who, [...(files.get(who) ?? []), file]);
  }
  return [...files].map(([who, names]) => {
    const more = names.length > MOST_FILES ? ` and ${names.length - MOST_FILES} more` : "";
    return `${who} change ${names.slice(0, MOST_FILES).join(", ")}${more}`;
  });
}
