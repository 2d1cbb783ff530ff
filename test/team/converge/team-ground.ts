import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { commandEnvironment } from "../../../src/platform/command-environment.ts";
import { addWorktree, furnishWorktree } from "../../../src/platform/worktree.ts";
import type { LoopComplete } from "../../../src/protocol/agent.ts";
import { LEAD, type TeamBus, type TeamStep } from "../../../src/protocol/team.ts";
import { resultText } from "../../../src/protocol/tool.ts";
import { createMemoryTeam } from "../../../src/team/bus/memory.ts";
import { type ConvergeOptions, converge, type IntegratorJob } from "../../../src/team/converge/converge.ts";
import type { ConvergeReport } from "../../../src/team/converge/report.ts";
import { memberBranch } from "../../../src/team/member-name.ts";
import type { WorktreeNeeds } from "../../../src/team/worktree-needs.ts";
import { ShellState } from "../../../src/tools/bash/shell-state.ts";
import { bashTool } from "../../../src/tools/builtin/bash.ts";
import { tempFolder } from "../../support/temp.ts";
import { sampleMember, sampleTeam } from "../bus/sample-team.ts";

/** git as a person calls it. */
export function git(cwd: string, ...args: string[]): string {
  return execFileSync("git", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}

export function write(root: string, files: Record<string, string | Buffer>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}

export function read(root: string, path: string): string {
  return readFileSync(join(root, path), "utf8");
}

type Said = { command: string; text: string; isError: boolean };
/** What a scripted integrator does: `bash` runs a command through the guarded tool and gives what the model would read. */
export type Script = (bash: (command: string) => Promise<Said>, job: IntegratorJob) => Promise<string | undefined>;

export type Ground = AsyncDisposable & {
  repo: string;
  integration: string;
  worktrees: string;
  bus: TeamBus;
  busOf: (name: string) => TeamBus;
  steps: TeamStep[];
  worktreeOf: (name: string) => string;
  branchOf: (name: string) => string;
  /** Files of a member in one commit. */
  commit: (name: string, files: Record<string, string | Buffer>) => string;
  converge: (script: Script, more?: Partial<ConvergeOptions>) => Promise<ConvergeReport>;
  lock: string;
  needs: WorktreeNeeds;
  notes: string[];
};

type GroundOptions = {
  files?: Record<string, string | Buffer>;
  check?: string;
  members: string[];
  folder?: string;
  commands?: Pick<WorktreeNeeds, "setup" | "teardown">;
};

/** A repository of a user's on branch main, and a worktree with a branch for each member. */
export async function teamGround({
  files = { "f.txt": "one\ntwo\nthree\n" },
  check,
  members,
  folder = "repo",
  commands = {},
}: GroundOptions): Promise<Ground> {
  const temp = await tempFolder();
  const repo = join(temp.path, folder);
  mkdirSync(repo);
  git(repo, "init", "--quiet", "--initial-branch=main");
  git(repo, "config", "user.name", "Ada");
  git(repo, "config", "user.email", "ada@example.org");
  write(repo, files);
  git(repo, "add", "--all");
  git(repo, "commit", "--quiet", "--message=first");
  const baseCommit = git(repo, "rev-parse", "HEAD");
  const worktrees = join(temp.path, "data", "worktrees", "auth");
  const lock = join(temp.path, "data", "worktrees.lock");
  const includeFile = join(repo, ".roocode", "worktree-include");
  const needs: WorktreeNeeds = {
    includeFile,
    ...commands,
    ports: { from: 20_000, size: 10, record: join(temp.path, "data", "ports.json") },
  };
  const worktreeOf = (name: string) => join(worktrees, name);
  const branchOf = (name: string) => memberBranch("auth", name);
  for (const name of members) {
    await addWorktree({ primary: repo, path: worktreeOf(name), branch: branchOf(name), commit: baseCommit, lockPath: lock });
    await furnishWorktree(repo, worktreeOf(name), includeFile);
  }
  const infos = members.map((name) => ({ ...sampleMember(name), worktreePath: worktreeOf(name), branch: branchOf(name), baseCommit }));
  const team = createMemoryTeam({ ...sampleTeam(), repoRoot: repo, baseCommit, members: infos, ...(check === undefined ? {} : { check }) });
  const bus = team.open({ name: LEAD, epoch: 1 });
  const steps: TeamStep[] = [];
  const notes: string[] = [];
  const integration = join(worktrees, ".integration");
  return {
    repo,
    integration,
    worktrees,
    bus,
    busOf: (name) => team.open({ name, epoch: 1 }),
    steps,
    worktreeOf,
    branchOf,
    lock,
    needs,
    notes,
    commit(name, changed) {
      write(worktreeOf(name), changed);
      git(worktreeOf(name), "add", "--all");
      git(worktreeOf(name), "commit", "--quiet", `--message=work of ${name}`);
      return git(worktreeOf(name), "rev-parse", "HEAD");
    },
    converge: (script, more = {}) =>
      converge({
        bus,
        checkout: repo,
        primary: repo,
        integrationPath: integration,
        worktreeLock: lock,
        needs,
        onNote: (text) => notes.push(text),
        runIntegrator: (job, signal) => runScript(script, job, signal, join(temp.path, "out")),
        onStep: (step) => steps.push(step),
        signal: new AbortController().signal,
        idleWaitMs: 0,
        ...more,
      }),
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

async function runScript(script: Script, job: IntegratorJob, signal: AbortSignal, outputFolder: string): Promise<LoopComplete> {
  const state = new ShellState(job.worktree);
  const tool = job.guard(bashTool(state, { outputFolder, env: commandEnvironment(process.env) }));
  let calls = 0;
  const bash = async (command: string): Promise<Said> => {
    calls += 1;
    const result = await tool.run(tool.parse({ command }), {
      cwd: job.worktree,
      callId: `call-${calls}`,
      signal,
      progress: () => undefined,
    });
    return { command, text: resultText(result), isError: result.isError ?? false };
  };
  const text = (await script(bash, job)) ?? "Done.";
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  return { type: "loop_complete", reason: signal.aborted ? "aborted" : "end_turn", text, turns: calls, usage };
}

/** Merges the members one after another, as the prompt says. */
export function mergeAll(ground: Pick<Ground, "branchOf">, ...names: string[]): Script {
  return async (bash) => {
    for (const name of names) await bash(mergeCommand(ground, name));
    return "Merged in order.";
  };
}

export function mergeCommand({ branchOf }: Pick<Ground, "branchOf">, name: string): string {
  return `git merge --no-ff -m "merge: ${name}" ${branchOf(name)}`;
}
