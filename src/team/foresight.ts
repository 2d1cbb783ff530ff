import { existsSync } from "node:fs";
import { git } from "../platform/git.ts";
import type { TeamConfig, TeammateInfo } from "../protocol/team.ts";
import { type BaseFile, isAsInBase } from "./base-file.ts";

export type FilesOf = { name: string; files: string[] };
export type Overlap = { file: string; members: string[] };

const MOST_LOOKED_AT = 500;

/** Per member: two short runs of git. Members without a worktree have nothing that could still change. */
export async function filesOfMembers({ members, baseBranch }: Pick<TeamConfig, "members" | "baseBranch">): Promise<FilesOf[]> {
  return Promise.all(members.map(async (member) => ({ name: member.name, files: await filesOf(member, baseBranch) })));
}

async function filesOf(member: TeammateInfo, baseBranch: string): Promise<string[]> {
  return [...(await changesOf(member, baseBranch)).keys()].sort();
}

/**
 * What the member has changed and the user's branch has not: committed, staged, edited, new; paths from the top of the checkout, each
 * with what is there in the commit that the two share.
 */
export async function changesOf({ worktreePath, baseCommit }: TeammateInfo, baseBranch: string): Promise<Map<string, BaseFile>> {
  const changes = new Map<string, BaseFile>();
  if (!existsSync(worktreePath)) return changes;
  const diff = (base: string) => git(worktreePath, ["diff", "--raw", "--no-abbrev", "--no-renames", "-z", "--merge-base", base]);
  const [ofBranch, untracked] = await Promise.all([
    diff(`refs/heads/${baseBranch}`),
    git(worktreePath, ["ls-files", "--others", "--exclude-standard", "--full-name", "-z"]),
  ]);
  // The user may have renamed the branch.
  const tracked = (ofBranch.exitCode === 0 ? ofBranch : await diff(baseCommit)).stdout.split("\0");
  for (let index = 0; index + 1 < tracked.length; index += 2) changes.set(tracked[index + 1] ?? "", baseFile(tracked[index] ?? ""));
  for (const path of untracked.stdout.split("\0")) if (!changes.has(path)) changes.set(path, "nothing");
  for (const path of ["", "node_modules"]) changes.delete(path);
  return changes;
}

/** Of a line of `git diff --raw`: ":100644 100755 OLD NEW M". */
function baseFile(line: string): BaseFile {
  const [mode = "", , id = "", , status = ""] = line.replace(/^:/, "").split(" ");
  if (status === "A") return "nothing";
  return /^[MDT]/.test(status) ? { mode, id } : "unknown";
}

/**
 * Those who may have changed one of these files, too. Git is not asked: a file that is as it was before is nobody's change, and most
 * files are.
 */
export async function mayShare(changes: ReadonlyMap<string, BaseFile>, others: readonly TeammateInfo[]): Promise<TeammateInfo[]> {
  if (changes.size > MOST_LOOKED_AT) return [...others];
  const mayTouch = await Promise.all(
    others.map(async ({ worktreePath }) => {
      for (const [path, base] of changes) if (!(await isAsInBase(worktreePath, path, base))) return true;
      return false;
    }),
  );
  return others.filter((_, index) => mayTouch[index]);
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
