import { createHash } from "node:crypto";
import { gitConfigFiles, gitConfigKeys } from "./git-config-files.ts";

/** A setting of a repository by which git starts a program on the files themselves: a filter, a diff or a merge driver. */
export type GitProgram = { key: string; value: string };
type ListConfig = (args: readonly string[]) => Promise<string>;

const PROGRAM = /^(filter\..+\.(clean|smudge|process)|diff\..+\.(command|textconv)|diff\.external|merge\..+\.driver)$/i;
const INCLUDE = /^(include|includeif\..+)\.path$/i;
/** Git's own merge of three files, as a driver: an empty one would silently keep our side. */
const TEXT_MERGE = "git merge-file -q --marker-size=%L %A %O %B";

/**
 * All of them that the repository around `cwd` sets, submodules and included files too; the person's own global settings are not
 * among them. Starts a git (`list`) only for a file that names one.
 */
export async function gitPrograms(cwd: string, list: ListConfig): Promise<GitProgram[]> {
  const suspects = (gitConfigFiles(cwd) ?? []).filter((file) => gitConfigKeys(file).some((key) => PROGRAM.test(key) || INCLUDE.test(key)));
  const found: GitProgram[] = [];
  for (const file of suspects) {
    const text = await list(["config", "--file", file, "--includes", "--list", "-z"]);
    for (const entry of text.split("\0")) {
      const [key = "", ...value] = entry.split("\n");
      if (PROGRAM.test(key)) found.push({ key, value: value.join("\n") });
    }
  }
  return found;
}

/** Settings that take the programs out of the way, for the environment of a git. */
export function withoutPrograms(programs: readonly GitProgram[]): [string, string][] {
  return programs.flatMap(({ key }): [string, string][] => {
    if (/^merge\./i.test(key)) return [[key, TEXT_MERGE]];
    if (!/^filter\./i.test(key)) return [];
    return [
      [key, ""],
      [key.replace(/[^.]+$/, "required"), "false"],
    ];
  });
}

/** Whether this git would write to the index, the disk or a commit what a filter or a merge driver makes of the content. */
export function writesContent(args: readonly string[], programs: readonly GitProgram[]): boolean {
  const words = args.filter((word) => !word.startsWith("-"));
  const [command = "", verb = ""] = words;
  if (/^(merge|cherry-pick|revert|rebase|pull|am|stash)$/.test(command)) return programs.some(({ key }) => /^(filter|merge)\./i.test(key));
  const isCheckout = /^(add|checkout|switch|restore|reset|clone)$/.test(command) || (command === "worktree" && verb === "add");
  return isCheckout && programs.some(({ key }) => /^filter\./i.test(key));
}

export function programsDigest(programs: readonly GitProgram[]): string {
  const texts = programs.map(programText).sort();
  return createHash("sha256").update(texts.join("\0")).digest("hex");
}

export function programText({ key, value }: GitProgram): string {
  return `git ${key} = ${value}`;
}
