import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { exists } from "./files.ts";
import { git, gitText } from "./git.ts";

type Submodule = { name: string; path: string; commit: string };

/**
 * Fills the submodules of a fresh worktree from what the primary checkout has of them: `git worktree add` leaves them empty, and their
 * addresses may ask for a password or not answer. Gives a sentence for each that stays empty.
 */
export async function fillSubmodules(primary: string, worktree: string): Promise<string[]> {
  if (!(await exists(join(worktree, ".gitmodules")))) return [];
  return fillFrom(await commonFolder(primary), worktree, "");
}

/** `source` is the git folder of the same repository elsewhere; `above` the path from the top worktree to this one. */
async function fillFrom(source: string, worktree: string, above: string): Promise<string[]> {
  const notes: string[] = [];
  for (const submodule of await submodulesOf(worktree)) {
    const place = join(worktree, submodule.path);
    if (await exists(join(place, ".git"))) continue;
    const module = moduleFolder(source, submodule);
    const problem = await fill(worktree, submodule, module);
    if (problem === undefined) notes.push(...(await fillFrom(module, place, `${above}${submodule.path}/`)));
    else {
      const path = `${above}${submodule.path}`;
      notes.push(
        `The submodule ${path} is empty in ${worktree}: ${problem}. Fill it in your checkout first (git submodule update --init --recursive -- ${path}), or let team.worktree.setup run that command.`,
      );
    }
  }
  return notes;
}

/** Why it stays empty. */
async function fill(worktree: string, { name, path, commit }: Submodule, module: string): Promise<string | undefined> {
  if (!(await exists(join(module, "HEAD")))) return "your checkout has not filled it either";
  // A submodule at another commit than the recorded one would be a change that nobody made.
  if ((await git(module, ["cat-file", "-e", `${commit}^{commit}`])).exitCode !== 0)
    return `your checkout has no commit ${commit.slice(0, 10)} of it`;
  const update = await git(
    worktree,
    ["-c", "core.hooksPath=/dev/null", "-c", `submodule.${name}.url=${module}`, "submodule", "--quiet", "update", "--checkout", "--", path],
    { env: { GIT_ALLOW_PROTOCOL: "file" } },
  );
  if (update.exitCode !== 0) {
    await rm(join(worktree, path), { recursive: true, force: true });
    await mkdir(join(worktree, path), { recursive: true });
    await rm(moduleFolder(await ownFolder(worktree), { name }), { recursive: true, force: true });
    return update.stderr.trim().split("\n").at(-1) ?? "";
  }
  const url = (await git(module, ["config", "--get", "remote.origin.url"])).stdout.trim();
  if (url !== "") await gitText(join(worktree, path), ["remote", "set-url", "origin", url]);
  return undefined;
}

/** Submodules of a worktree that hold what the primary checkout's copy has not: edits, new files, commits. */
export async function submodulesWithOwnWork(primary: string, worktree: string): Promise<string[]> {
  const stray = await strayRepositories(worktree);
  if (!(await exists(join(worktree, ".gitmodules")))) return stray;
  return [...stray, ...(await ownWorkIn(await commonFolder(primary), worktree))];
}

/** Repositories that were added as if they were submodules: a commit holds no more of them than an id, and nobody knows an address. */
export async function strayRepositories(worktree: string): Promise<string[]> {
  const { stdout } = await git(worktree, ["ls-files", "--stage", "-z"]);
  const added = stdout.split("\0").flatMap((entry) => /^160000 [0-9a-f]+ 0\t(.+)$/s.exec(entry)?.[1] ?? []);
  if (added.length === 0) return [];
  const known = (await submodulesOf(worktree)).map(({ path }) => path);
  const found: string[] = [];
  for (const path of added) if (!known.includes(path) && (await exists(join(worktree, path, ".git")))) found.push(path);
  return found;
}

async function ownWorkIn(source: string, worktree: string): Promise<string[]> {
  const found: string[] = [];
  for (const submodule of await submodulesOf(worktree)) {
    const place = join(worktree, submodule.path);
    if (!(await exists(join(place, ".git")))) continue;
    const module = moduleFolder(source, submodule);
    const below = await ownWorkIn(module, place);
    if (await hasOwnWork(place, module)) found.push(submodule.path);
    else found.push(...below.map((path) => `${submodule.path}/${path}`));
  }
  return found;
}

async function hasOwnWork(place: string, module: string): Promise<boolean> {
  const status = await git(place, ["status", "--porcelain", "--untracked-files=all"]);
  if (status.exitCode !== 0 || status.stdout.trim() !== "") return true;
  const refs = await gitText(place, ["for-each-ref", "--format=%(objectname)", "refs/heads", "refs/stash", "refs/tags"]);
  const head = await git(place, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  for (const commit of new Set([head.stdout.trim(), ...refs.split("\n")].filter((one) => one !== "")))
    if ((await git(module, ["cat-file", "-e", commit])).exitCode !== 0) return true;
  return false;
}

/** Those of `.gitmodules` that the index has, too. */
async function submodulesOf(worktree: string): Promise<Submodule[]> {
  const { stdout } = await git(worktree, ["config", "--file", ".gitmodules", "-z", "--get-regexp", "^submodule\\..*\\.path$"]);
  const found: Submodule[] = [];
  for (const entry of stdout.split("\0")) {
    const [key = "", path = ""] = entry.split("\n");
    const name = key.slice("submodule.".length, -".path".length);
    if (path === "" || !isPlainName(name)) continue;
    const [, commit] = /^160000 ([0-9a-f]+) 0\t/.exec((await git(worktree, ["ls-files", "-s", "-z", "--", path])).stdout) ?? [];
    if (commit !== undefined) found.push({ name, path, commit });
  }
  return found;
}

/** Git refuses such names too; with "=" in it, the name could not be told from a value. */
function isPlainName(name: string): boolean {
  return name !== "" && !name.includes("=") && !name.split(/[/\\]/).includes("..");
}

function moduleFolder(gitFolder: string, { name }: Pick<Submodule, "name">): string {
  return join(gitFolder, "modules", name);
}

async function commonFolder(repository: string): Promise<string> {
  return gitText(repository, ["rev-parse", "--path-format=absolute", "--git-common-dir"]);
}

async function ownFolder(worktree: string): Promise<string> {
  return gitText(worktree, ["rev-parse", "--absolute-git-dir"]);
}
