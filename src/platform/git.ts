import { existsSync } from "node:fs";
import { realpath, rm } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { exists } from "./files.ts";
import { type GitProgram, gitPrograms, programsDigest, withoutPrograms, writesContent } from "./git-programs.ts";
import { GitKilled, isRepeatable, ownRefLock } from "./killed-git.ts";
import { ownEnvironment } from "./own-programs.ts";

export type GitResult = { exitCode: number; stdout: string; stderr: string };
type GitOptions = { env?: NodeJS.ProcessEnv; signal?: AbortSignal; input?: string };

/**
 * Settings that every git of ours carries, by environment: a repository can name programs to run (hooks, fsmonitor, pagers,
 * signing), and ours must not start them. What can't be switched off without its name is in git-programs.ts.
 */
const NEUTRAL_CONFIG: readonly (readonly [string, string])[] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.pager", "cat"],
  ["core.editor", "true"],
  ["commit.gpgSign", "false"],
  ["tag.gpgSign", "false"],
  ["checkout.workers", "1"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["core.quotePath", "false"],
  ["log.showSignature", "false"],
  ["submodule.recurse", "false"],
];
/** Digests of the programs that the person accepted, each with all its values. */
const ACCEPTED = new Set<string>();

/** From now on the filters and drivers of repositories with exactly these are left alone. */
export function acceptGitPrograms(programs: readonly GitProgram[]): void {
  ACCEPTED.add(programsDigest(programs));
}

/** Programs that the repository's own settings make git start on its files; see git-programs.ts. */
export function programsOf(cwd: string): Promise<GitProgram[]> {
  return gitPrograms(cwd, async (args) => (await again(args, () => start(cwd, args, { env: gitEnvironment() }))).stdout);
}

/** The environment of a git of ours: nothing inherited that points git elsewhere, no question, the settings above. */
function gitEnvironment(
  base: NodeJS.ProcessEnv = ownEnvironment(),
  extra: NodeJS.ProcessEnv = {},
  programs: readonly GitProgram[] = [],
): NodeJS.ProcessEnv {
  const settings = [...NEUTRAL_CONFIG, ...withoutPrograms(programs)];
  const env = Object.fromEntries(Object.entries(base).filter(([name]) => !name.startsWith("GIT_")));
  env.GIT_TERMINAL_PROMPT = "0";
  env.GIT_OPTIONAL_LOCKS = "0";
  env.GIT_EDITOR = "true";
  env.LC_ALL = "C.UTF-8";
  env.GIT_CONFIG_COUNT = String(settings.length);
  for (const [index, [key, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${index}`] = key;
    env[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return { ...env, ...extra };
}

/**
 * Runs git through node:child_process (no library on the way to the first request). Never throws for a git that fails; GitKilled for one
 * that was killed, where it could not be run once more.
 */
export async function git(cwd: string, args: readonly string[], options: GitOptions = {}): Promise<GitResult> {
  // A missing folder would show as ENOENT of git itself.
  if (!existsSync(cwd)) return failed(`there is no folder ${cwd}`);
  // A repository of our own beside the person's (checkpoints) has none of its settings.
  const programs = options.env?.GIT_DIR === undefined ? await foreignPrograms(cwd) : [];
  if (programs.length > 0 && writesContent(args, programs)) {
    const keys = programs.map(({ key }) => key).join(", ");
    return failed(
      `this repository's own git settings start programs on its files (${keys}), which nobody accepted; start once with --trust, or remove them with git config --unset`,
    );
  }
  const env = gitEnvironment(ownEnvironment(), options.env, programs);
  return again(args, () => start(cwd, looksIntoNoSubmodule(args), { ...options, env }));
}

/** Once more where it was killed and can be repeated; without the lock that it left on a ref of ours. */
async function again(args: readonly string[], run: () => Promise<GitResult>): Promise<GitResult> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof GitKilled) || !isRepeatable(args)) throw error;
  }
  const result = await run();
  const lock = result.exitCode === 0 ? undefined : ownRefLock(result.stderr);
  if (lock === undefined) return result;
  await rm(lock, { force: true });
  return run();
}

/** As a shell says it; git has no such exit code. */
export const KILLED = 137;

/** For a caller that looks at what was left: one that was killed counts as one that failed, with KILLED. */
export async function tryGit(cwd: string, args: readonly string[], options: GitOptions = {}): Promise<GitResult> {
  return git(cwd, args, options).catch((error: unknown) => {
    if (error instanceof GitKilled) return { ...failed(error.message), exitCode: KILLED };
    throw error;
  });
}

/** For a shell in which a model merges: its git starts no hook and no program of the repository either. */
export async function neutralGitVariables(cwd: string): Promise<NodeJS.ProcessEnv> {
  const env = gitEnvironment({}, {}, await foreignPrograms(cwd));
  return Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith("GIT_CONFIG_")));
}

async function foreignPrograms(cwd: string): Promise<GitProgram[]> {
  const programs = await programsOf(cwd);
  return programs.length > 0 && !ACCEPTED.has(programsDigest(programs)) ? programs : [];
}

/** A submodule's own settings would be obeyed in it. A new commit in it is still seen. */
function looksIntoNoSubmodule(args: readonly string[]): readonly string[] {
  const [command, ...rest] = args;
  return command === "status" || command === "diff" ? [command, "--ignore-submodules=dirty", ...rest] : args;
}

function failed(stderr: string): GitResult {
  return { exitCode: 128, stdout: "", stderr };
}

async function start(cwd: string, args: readonly string[], options: GitOptions): Promise<GitResult> {
  const { execFile } = await import("node:child_process");
  return new Promise((resolve, reject) => {
    const child = execFile(
      "git",
      args,
      { cwd, env: options.env, maxBuffer: 256 * 1024 * 1024, encoding: "utf8", ...(options.signal ? { signal: options.signal } : {}) },
      (error, stdout, stderr) => {
        // `killed` is by us: an interrupt, or too much output.
        if (error?.signal && !error.killed) reject(new GitKilled(args, error.signal));
        else if (error && typeof error.code !== "number") reject(error);
        else resolve({ exitCode: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
      },
    );
    // A git that ends without reading its input says why by its exit.
    child.stdin?.on("error", () => undefined);
    if (options.input !== undefined) child.stdin?.end(options.input);
    else child.stdin?.end();
  });
}

export class GitError extends Error {
  override readonly name = "GitError";
  readonly result: GitResult;
  constructor(args: readonly string[], result: GitResult) {
    super(`git ${args.join(" ")} failed (exit ${result.exitCode}): ${(result.stderr || result.stdout).trim().slice(0, 500)}`);
    this.result = result;
  }
}

/** Trimmed stdout; throws GitError when git fails. */
export async function gitText(cwd: string, args: readonly string[], options: GitOptions = {}): Promise<string> {
  const result = await git(cwd, args, options);
  if (result.exitCode !== 0) throw new GitError(args, result);
  return result.stdout.trim();
}

/** Whether the repository brings the file along: it is in the index, and so not the person's own. Without git nobody can tell: yes. */
async function isTracked(folder: string, path: string): Promise<boolean> {
  return git(folder, ["ls-files", "--error-unmatch", "--", path]).then(
    ({ exitCode }) => exitCode === 0,
    () => true,
  );
}

/**
 * Whether a file in a folder below the top of a checkout came with it, whatever it came through: git says nothing of what lies behind a link
 * or in a submodule, so that link or submodule is asked for, and the repository that the file really lies in.
 */
export async function cameWithRepository(top: string, file: string): Promise<boolean> {
  if (await isTracked(top, file)) return true;
  const folder = dirname(file);
  const real = await realpath(file);
  if (real === file && !(await exists(join(folder, ".git")))) return false;
  return (await isEntry(top, folder)) || ((await isInCheckout(dirname(real))) && isTracked(dirname(real), real));
}

/** The name itself stands in the index; a plain folder never does. */
async function isEntry(top: string, path: string): Promise<boolean> {
  const { exitCode, stdout } = await git(top, ["ls-files", "-z", "--", path]);
  return exitCode !== 0 || stdout.split("\0").includes(relative(top, path));
}

async function isInCheckout(folder: string): Promise<boolean> {
  return (await git(folder, ["rev-parse", "--is-inside-work-tree"])).exitCode === 0;
}

/** Paths of what a worktree holds beside its commits. */
export async function changedFiles(path: string): Promise<string[]> {
  const args = ["status", "--porcelain", "-z", "--no-renames"];
  const result = await git(path, args);
  if (result.exitCode !== 0) throw new GitError(args, result);
  return result.stdout.split("\0").flatMap((entry) => (entry === "" ? [] : [entry.slice(3)]));
}
