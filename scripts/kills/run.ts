import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Conversation } from "../../src/interaction/demo/conversation.ts";
import { readPlan } from "../../src/interaction/demo/plan.ts";
import { scriptedTurn } from "../../src/interaction/demo/scripted-model.ts";
import { fakeModel, PROTOCOLS } from "../../test/support/fake-model.ts";
import { testHome } from "../../test/support/home.ts";
import { startTeam } from "../../test/support/running-team.ts";
import { audit, processesIn, type Report } from "./audit.ts";
import { FILES, type Scenario } from "./scenario.ts";
import { killerFor } from "./victims.ts";

/** Of one command; what takes longer is stuck. */
const LIMIT_MS = 100_000;
const MOST_RESUMES = 4;
const TEAM = "kills";

export type Outcome = "whole" | "partial" | "nothing begun" | "FAILED";
export type Result = {
  outcome: Outcome;
  /** What was killed; undefined when the team was over before, or it was never there. */
  killed: string | undefined;
  resumes: number;
  seconds: number;
  faults: string[];
  codes: (number | string | null)[];
  /** The end of what the commands printed. */
  said: string;
  /** Kept for a look. */
  folder?: string;
};

/** One scripted team with one kill in it, led to its end; then a look at all that is left. */
export async function runOnce(scenario: Scenario, keep: boolean): Promise<Result> {
  const started = performance.now();
  const home = await testHome(FILES);
  const folder = dirname(home.home);
  const scratch = join(folder, "tmp");
  await mkdir(scratch);
  const killer = await killerFor(scenario, home, folder);
  let isOver = false;
  let killed: Promise<string | undefined> | undefined;
  let leadPid = 0;
  const begins = moment(scenario, () => {
    killed ??= sleep(scenario.delayMs).then(() => killer.kill(leadPid, () => isOver));
  });
  const plan = readPlan(scenario.plan);
  await using model = await fakeModel(
    async (conversation) => {
      begins(conversation);
      return scriptedTurn(plan, conversation);
    },
    { latencyMs: scenario.latencyMs },
  );
  const env = { ...model.env(PROTOCOLS[scenario.seed % PROTOCOLS.length] ?? "anthropic"), ...killer.env, TMPDIR: scratch };
  const faults: string[] = [];
  const codes: (number | string | null)[] = [];
  let report: Report | undefined;
  let output = "";

  async function command(args: readonly string[], wantsPid: boolean): Promise<number | null> {
    await using run = startTeam(home, [...args, "--permission-mode", "bypassPermissions", "--output-format", "json"], env);
    if (wantsPid) leadPid = run.pid;
    const timer = new AbortController();
    const end = await Promise.race([run.ended, sleep(LIMIT_MS, undefined, { signal: timer.signal }).catch(() => undefined)]);
    timer.abort();
    output += `\n--- ${args.join(" ")}: ${end?.code ?? end?.signal}\n${run.output()}`;
    codes.push(end ? (end.code ?? end.signal) : "stuck");
    if (!end) faults.push(`stuck: ${args.join(" ")} did not end within ${LIMIT_MS / 1000} s`);
    report = reportIn(run.output());
    return end ? end.code : null;
  }

  try {
    const check = scenario.check === undefined ? [] : ["--check", scenario.check];
    const first = [
      "Do the plan.",
      "-p",
      "--name",
      TEAM,
      "--backend",
      scenario.backend,
      "--teammates",
      String(plan.teammates.length),
      ...check,
    ];
    let code = await command(first, true);
    isOver = true;
    const what = await killed;
    let resumes = 0;
    while ((code === null || code === 130) && faults.length === 0 && resumes < MOST_RESUMES) {
      resumes += 1;
      code = await command(["resume", TEAM, "-p"], false);
    }
    faults.push(...(await audit(home, code, report, scratch)));
    faults.push(...legality(() => model.proxy.assertLegal()));
    const outcome = outcomeOf(code, output, faults);
    return {
      outcome,
      killed: what,
      resumes,
      seconds: (performance.now() - started) / 1000,
      faults,
      codes,
      said: output.slice(-2_000),
      ...(keep && outcome === "FAILED" ? { folder } : {}),
    };
  } finally {
    isOver = true;
    await killer.close();
    for (const pid of await processesIn(folder)) endProcess(pid);
    if (keep) await writeFile(join(folder, "output.txt"), output);
    if (!keep || faults.length === 0) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function outcomeOf(code: number | null, output: string, faults: string[]): Outcome {
  // A lead that was killed before it had made its team, or after it had filed it away.
  if (code === 2 && /There is no team/.test(output) && faults.length === 0) return "nothing begun";
  if (code !== 0 && code !== 1 && code !== 3 && code !== 4) faults.push(`the last exit code is ${code}`);
  if (faults.length > 0) return "FAILED";
  return code === 0 ? "whole" : "partial";
}

/** Calls `begin` at the request of the moment that the scenario drew. */
function moment({ moment: wanted, depth, plan }: Scenario, begin: () => void): (conversation: Conversation) => void {
  const teammates = plan.teammates?.length ?? 0;
  const perTask = 5;
  const ofWorkers = perTask * (plan.tasks?.length ?? 0);
  const ofIntegrator = teammates + 5;
  const seen = { all: 0, lead: 0, worker: 0, integrator: 0, main: 0 };
  return ({ role }) => {
    seen.all += 1;
    seen[role.type] += 1;
    switch (wanted) {
      case "start":
        begin();
        break;
      case "spawning":
        // Its answer to the second request starts all teammates.
        if (role.type === "lead" && seen.lead === 2) setTimeout(begin, depth * 2_000);
        break;
      case "working":
        if (seen.worker > depth * ofWorkers) begin();
        break;
      case "merging":
        if (seen.integrator > depth * ofIntegrator) begin();
        break;
      case "ending":
        if (seen.integrator >= teammates) setTimeout(begin, depth * 1_500);
        break;
      case "anywhen":
        if (seen.all > depth * (ofWorkers + ofIntegrator + 4)) begin();
        break;
    }
  };
}

function reportIn(output: string): Report | undefined {
  const line = output.split("\n").findLast((one) => one.startsWith('{"type":"result"'));
  return line === undefined ? undefined : JSON.parse(line);
}

function legality(check: () => void): string[] {
  try {
    check();
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message.slice(0, 500) : String(error)];
  }
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended by itself.
  }
}
