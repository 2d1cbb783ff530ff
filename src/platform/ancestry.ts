import { git, gitText } from "./git.ts";

export async function isAncestor(repository: string, ancestor: string, commit: string): Promise<boolean> {
  return (await git(repository, ["merge-base", "--is-ancestor", ancestor, commit])).exitCode === 0;
}

/** Of these commits, those that are not in the history of `other`; one git for all of them. */
export async function notIn(repository: string, commits: readonly string[], other: string): Promise<Set<string>> {
  const open = [...new Set(commits)];
  if (open.length === 0) return new Set();
  const listed = await git(repository, ["rev-list", "--stdin"], { input: [...open, `^${other}`, ""].join("\n") });
  if (listed.exitCode === 0) {
    const missing = new Set(listed.stdout.split("\n"));
    return new Set(open.filter((commit) => missing.has(commit)));
  }
  // One of them, or `other`, is no commit here: each is answered by itself.
  const isThere = await Promise.all(open.map((commit) => isAncestor(repository, commit, other)));
  return new Set(open.filter((_, index) => !isThere[index]));
}

/** The commits that branches are at now; without those that are not there. */
export async function tipsOf(repository: string, branches: readonly string[]): Promise<Map<string, string>> {
  if (branches.length === 0) return new Map();
  const refs = branches.map((branch) => `refs/heads/${branch}`);
  const text = await gitText(repository, ["for-each-ref", "--format=%(objectname) %(refname:lstrip=2)", ...refs]);
  const found = text.split("\n").map((line): [string, string] => [line.slice(line.indexOf(" ") + 1), line.split(" ", 1)[0] ?? ""]);
  return new Map(found.filter(([branch]) => branches.includes(branch)));
}
