import { existsSync } from "node:fs";

export type GitResult = { exitCode: number; stdout: string; stderr: string };
type GitOptions = { env?: NodeJS.ProcessEnv; signal?: AbortSignal; input?: string };

/**
 * Settings that every git of ours carries, by environment: a repository can name programs to run (hooks, fsmonitor, pagers,
 * signing), and ours must not start them. `filter.*` can't be switched off without its name: see `execCapableKeys`.
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
];

/** The environment of a git of ours: nothing inherited that points git elsewhere, no question, the settings above. */
function gitEnvironment(base: NodeJS.ProcessEnv = process.env, extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const env = Object.fromEntries(Object.entries(base).filter(([name]) => !name.startsWith("GIT_")));
  env.GIT_TERMINAL_PROMPT = "0";
  env.GIT_OPTIONAL_LOCKS = "0";
  env.GIT_EDITOR = "true";
  env.LC_ALL = "C.UTF-8";
  env.GIT_CONFIG_COUNT = String(NEUTRAL_CONFIG.length);
  for (const [index, [key, value]] of NEUTRAL_CONFIG.entries()) {
    env[`GIT_CONFIG_KEY_${index}`] = key;
    env[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return { ...env, ...extra };
}

/** Runs git through node:child_process (no library on the way to the first request). Never throws for a git that fails. */
export async function git(cwd: string, args: readonly string[], options: GitOptions = {}): Promise<GitResult> {
  const { execFile } = await import("node:child_process");
  return new Promise((resolve, reject) => {
    // A missing folder would show as ENOENT of git itself.
    if (!existsSync(cwd)) {
      resolve({ exitCode: 128, stdout: "", stderr: `there is no folder ${cwd}` });
      return;
    }
    const child = execFile(
      "git",
      args,
      {
        cwd,
        env: gitEnvironment(process.env, options.env),
        maxBuffer: 256 * 1024 * 1024,
        encoding: "utf8",
        ...(options.signal ? { signal: options.signal } : {}),
      },
      (error, stdout, stderr) => {
        if (error && typeof error.code !== "number") reject(error);
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
export async function isTracked(folder: string, path: string): Promise<boolean> {
  return git(folder, ["ls-files", "--error-unmatch", "--", path]).then(
    ({ exitCode }) => exitCode === 0,
    () => true,
  );
}

export type ChangedFile = { path: string; isUntracked: boolean };

/** What a worktree holds beside its commits, as simple-git reads it; for reports, never on the way to the first request. */
export async function changedFiles(path: string): Promise<ChangedFile[]> {
  const { simpleGit } = await import("simple-git");
  // The library guards settings that could run programs; ours keep a repository from running any.
  const unsafe = {
    allowUnsafeConfigEnvCount: true,
    allowUnsafeEditor: true,
    allowUnsafePager: true,
    allowUnsafeHooksPath: true,
    allowUnsafeFsMonitor: true,
    allowUnsafeGpgProgram: true,
  };
  const env = gitEnvironment();
  const status = await simpleGit({ baseDir: path, unsafe, allowEnvironment: Object.keys(env) })
    .env(env)
    .status();
  return status.files.map((file) => ({ path: file.path, isUntracked: file.index === "?" }));
}
