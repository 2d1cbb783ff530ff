import { spawn } from "node:child_process";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SAMPLE_REPOSITORY } from "../../src/interaction/demo/sample-repository.ts";
import { gitText } from "../../src/platform/git.ts";
import { tempFolder } from "./temp.ts";

const BIN = decodeURIComponent(new URL("../../bin/roocode.js", import.meta.url).pathname);

export type Finished = { code: number | null; stdout: string; stderr: string };
type RunOptions = {
  cwd?: string;
  env?: Record<string, string>;
  input?: string;
  timeoutMs?: number /** A program with its arguments that starts it. */;
  through?: readonly string[];
};

export type TestHome = AsyncDisposable & {
  /** HOME of everything that is run here. */
  home: string;
  /** A repository with one commit: the demo's sample, or the files that were given. */
  repo: string;
  /** RooCode's data folder. */
  data: string;
  /** Runs the built bin/roocode.js to its end. */
  roocode(args: readonly string[], options?: RunOptions): Promise<Finished>;
  /** Session files of plain sessions, by name. */
  sessions(): Promise<string[]>;
};

/** A home and a repository of a test's own, where nothing of the person's environment is seen. */
export async function testHome(files: Readonly<Record<string, string>> = SAMPLE_REPOSITORY): Promise<TestHome> {
  const folder = await tempFolder("roocode-home");
  const home = join(folder.path, "home");
  const repo = join(folder.path, "repo");
  const data = join(home, ".roocode");
  await mkdir(home);
  await sampleRepository(repo, files);
  return {
    home,
    repo,
    data,
    roocode: (args, options = {}) => runRoocode(args, { cwd: repo, ...options, env: { ...childEnvironment(home), ...options.env } }),
    async sessions() {
      const projects = join(data, "projects");
      const names = await readdir(projects, { recursive: true }).catch(() => []);
      return names
        .filter((name) => /sessions\/[^/]+\.jsonl$/.test(name))
        .map((name) => join(projects, name))
        .sort();
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

export async function sampleRepository(repo: string, files: Readonly<Record<string, string>> = SAMPLE_REPOSITORY): Promise<void> {
  await mkdir(repo, { recursive: true });
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(repo, path)), { recursive: true });
    await writeFile(join(repo, path), content);
  }
  await gitText(repo, ["init", "--quiet", "--initial-branch=main"]);
  await gitText(repo, ["config", "user.name", "Test"]);
  await gitText(repo, ["config", "user.email", "test@localhost"]);
  await gitText(repo, ["add", "--all"]);
  await gitText(repo, ["commit", "--quiet", "--allow-empty", "--message", "First commit"]);
}

/** Only what programs need to be found; no key, no proxy, no tmux, no settings of the person. */
export function childEnvironment(home: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    HOME: home,
    LANG: "C.UTF-8",
    TERM: "dumb",
    ROOCODE_SCREEN: "plain",
    GIT_CONFIG_NOSYSTEM: "1",
    ROOCODE_STRICT: "1",
  };
}

/** Runs bin/roocode.js; after `timeoutMs` its whole process group is killed and the promise rejects. */
function runRoocode(args: readonly string[], { cwd, env, input = "", timeoutMs = 45_000, through = [] }: RunOptions): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const [program = "", ...rest] = [...through, process.execPath, BIN, ...args];
    const child = spawn(program, rest, { ...(cwd ? { cwd } : {}), env: env ?? {}, detached: true });
    const finished: Finished = { code: null, stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      finished.stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      finished.stderr += text;
    });
    const timer = setTimeout(() => {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      reject(new Error(`roocode ${args.join(" ")} took longer than ${timeoutMs} ms.\n${finished.stdout}\n${finished.stderr}`));
    }, timeoutMs);
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ ...finished, code });
    });
    // A program that never reads its input closes the pipe.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });
}
