import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { isErrno } from "../../platform/files.ts";
import { gitText } from "../../platform/git.ts";
import { runCommand } from "../../platform/process.ts";
import { UserError } from "../../protocol/errors.ts";
import type { BackendKind } from "../../protocol/team.ts";
import { readSurroundings } from "../../runtime/surroundings.ts";
import { readPlan } from "../demo/plan.ts";
import { SAMPLE_REPOSITORY } from "../demo/sample-repository.ts";
import { startScriptedModel } from "../demo/scripted-model.ts";
import { inOwnSession } from "../own-session.ts";

export type DemoArguments = {
  /** The sample repository is made here and stays; without it, it is gone at the end. */
  dir?: string | undefined;
  backend: BackendKind | "auto";
  protocol?: "anthropic" | "openai";
  /** Before each answer of the scripted model, so that one can watch. */
  latencyMs?: number;
};

const LABEL = "DEMO: scripted answers, no AI.";
const GOAL = "[scripted answers, no AI] Harden the auth module: sessions end, failed logins lock a name out";
const CHECK = "node --test";

/** In a terminal outside tmux the whole demo moves into a tmux session of its own, as a team would. */
export async function demoInTerminal(args: DemoArguments): Promise<number> {
  const surroundings = await readSurroundings(process.cwd(), process.env, {});
  return (await inOwnSession(surroundings, args.backend, "demo")) ?? demoCommand(args);
}

/** `roocode demo`: the real product on a repository of its own; only the model's answers are scripted. Gives the exit code. */
async function demoCommand(args: DemoArguments): Promise<number> {
  const say = (text: string) => process.stdout.write(`${text}\n`);
  const base = await realpath(await mkdtemp(join(tmpdir(), "roocode-demo-")));
  const folder = args.dir === undefined ? join(base, "auth-sample") : resolve(args.dir);
  let isKept = false;
  try {
    await makeSample(folder);
    say(`${LABEL} The team, its worktrees, mail, tasks, tests and merges are real; it works on ${folder}.`);
    // What goes wrong from here on should be looked at.
    isKept = true;
    const code = await demonstrate(args, folder, join(base, "home"), say);
    isKept = code !== 0 && code !== 130;
    if (args.dir !== undefined) say(`The sample repository is in ${folder}.`);
    else if (!isKept) say("The sample repository was temporary and is gone; --dir FOLDER keeps it.");
    if (isKept) say(`Kept for a look: ${base}`);
    say(`${LABEL} For real work set ANTHROPIC_API_KEY or OPENAI_API_KEY and run: roocode team "goal"`);
    return code;
  } finally {
    if (!isKept) await rm(base, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function demonstrate(args: DemoArguments, folder: string, home: string, say: (text: string) => void): Promise<number> {
  const { default: planFile } = await import("../demo/demo-plan.json", { with: { type: "json" } });
  await using model = await startScriptedModel({ plan: readPlan(planFile), latencyMs: args.latencyMs ?? 0 });
  const code = await runTeam(args, folder, demoEnvironment(args.protocol ?? "anthropic", model, home));
  say(`\n${await gitText(folder, ["log", "--graph", "--oneline", "--all"])}\n`);
  if (code === 130) {
    // Its model ends with it. Of a sample that is kept only the sample stays.
    const members = (await gitText(folder, ["branch", "--list", "--format=%(refname:short)", "worktree-team-demo+*"]))
      .split("\n")
      .filter(Boolean);
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
    await gitText(folder, ["worktree", "prune"]);
    if (members.length > 0) await gitText(folder, ["branch", "--quiet", "-D", ...members]);
    say("The demo was interrupted. Its scripted model is gone with it, so this team can't be resumed; start it again with: roocode demo");
    return code;
  }
  const tests = await runCommand(process.execPath, ["--test"], { cwd: folder, env: process.env });
  if (tests.exitCode === 0) {
    say(`The sample's tests pass on what main holds now (${CHECK}).`);
    return code;
  }
  say(`The sample's tests FAIL on what main holds now (${CHECK}):\n${tests.stdout.trim()}`);
  return code || 1;
}

async function runTeam({ backend }: DemoArguments, cwd: string, env: NodeJS.ProcessEnv): Promise<number> {
  const { teamCommand } = await import("./team.ts");
  return teamCommand(
    {
      goal: GOAL,
      name: "demo",
      backend,
      teammates: 4,
      check: CHECK,
      merge: true,
      coordinator: true,
      layout: "auto",
      print: false,
      outputFormat: "text",
      // Only on its own sample: nothing of the user's is in reach of what the script runs.
      permissionMode: "bypassPermissions",
      isDemo: true,
    },
    { cwd, env },
  );
}

/** A repository with one commit, in a folder that is empty or not there yet. */
async function makeSample(folder: string): Promise<void> {
  const found = await readdir(folder).catch((error: unknown) => {
    if (isErrno(error, "ENOENT")) return [];
    if (isErrno(error, "ENOTDIR")) throw new UserError(`${folder} is a file. Give a folder that is empty or not there yet.`);
    throw error;
  });
  if (found.length > 0) throw new UserError(`${folder} is not empty. The demo works on its own sample only: give a new folder.`);
  for (const [path, content] of Object.entries(SAMPLE_REPOSITORY)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  await gitText(folder, ["init", "--quiet", "--initial-branch=main"]);
  for (const [key, value] of [
    ["user.name", "RooCode demo"],
    ["user.email", "demo@localhost"],
    ["commit.gpgSign", "false"],
  ] as const)
    await gitText(folder, ["config", key, value]);
  await gitText(folder, ["add", "--all"]);
  await gitText(folder, ["commit", "--quiet", "--message", "A small auth module"]);
}

/** The user's environment without what would reach another model or other data. */
function demoEnvironment(
  protocol: "anthropic" | "openai",
  { anthropicUrl, openaiUrl }: { anthropicUrl: string; openaiUrl: string },
  home: string,
): NodeJS.ProcessEnv {
  const others = /^(?:ROOCODE_|ANTHROPIC_|OPENAI_)|_API_KEY$|_PROXY$/i;
  const env: NodeJS.ProcessEnv = Object.fromEntries(Object.entries(process.env).filter(([name]) => !others.test(name)));
  env.ROOCODE_HOME = home;
  if (protocol === "anthropic") Object.assign(env, { ANTHROPIC_BASE_URL: anthropicUrl, ANTHROPIC_API_KEY: "scripted" });
  else Object.assign(env, { OPENAI_BASE_URL: openaiUrl, OPENAI_API_KEY: "scripted" });
  return env;
}
