import { setTimeout as sleep } from "node:timers/promises";
import { isAlive } from "../../platform/process.ts";
import { UserError } from "../../protocol/errors.ts";
import { type BackendKind, LEAD, type PlanApprover } from "../../protocol/team.ts";
import { runTeam } from "../../runtime/run-team.ts";
import { type GlobalFlags, readSurroundings, type Surroundings } from "../../runtime/surroundings.ts";
import { checkTeam, createTeam, type NewTeam } from "../../runtime/team-create.ts";
import type { TeamOutcome } from "../../runtime/team-outcome.ts";
import { type BusOptions, busAddress } from "../../team/bus/address.ts";
import { readRoster } from "../../team/bus/team-bus.ts";
import { teamNameFrom } from "../../team/member-name.ts";
import { plainText } from "../../tools/bash/plain-text.ts";
import { outliveOutput } from "../lost-output.ts";
import { openTeamScreen } from "../open-screen.ts";
import { inOwnSession } from "../own-session.ts";
import { PlainScreen } from "../plain.ts";
import { type OutputFormat, wireUsage } from "../print.ts";
import type { Screen } from "../screen.ts";
import { headlessTeamScreen, plainTeamScreen } from "../team-screen.ts";
import { wrapWords } from "../wrap-words.ts";

const DEFAULT_TEAMMATES = 4;

export type TeamArguments = GlobalFlags &
  BusOptions & {
    goal: string;
    name?: string | undefined;
    backend: BackendKind | "auto";
    teammates?: number | undefined;
    check?: string | undefined;
    merge: boolean;
    plan?: PlanApprover | undefined;
    coordinator: boolean;
    layout: "auto" | "split" | "window";
    print: boolean;
    outputFormat: OutputFormat;
    /** Its scripted model ends with it, so that it can't be gone on with. */
    isDemo?: boolean;
  };

/** `roocode team "goal"`: creates a team and runs it to convergence. Gives the exit code. */
export async function teamCommand(args: TeamArguments, place?: { cwd: string; env: NodeJS.ProcessEnv }): Promise<number> {
  if (args.plan === "me" && (args.print || process.stdin.isTTY !== true))
    throw new UserError("--plan=me needs a terminal, where you approve the plans. With -p, let the lead do it: --plan=lead");
  const surroundings = await readSurroundings(place?.cwd ?? process.cwd(), place?.env ?? process.env, args);
  const bus = busAddress(args, place?.cwd ?? process.cwd());
  if (place === undefined && !args.print) {
    await checkTeam(surroundings, { ...args, bus });
    await (await import("./offer-trust.ts")).offerTrust(surroundings);
    const inside = await inOwnSession(surroundings, args.backend, args.name ?? teamNameFrom(args.goal));
    if (inside !== undefined) return inside;
  }
  return lead(surroundings, await createTeam(surroundings, { ...args, bus }), args);
}

export type LeadArguments = Pick<TeamArguments, "teammates" | "coordinator" | "layout" | "print" | "outputFormat" | "isDemo">;

export async function lead(surroundings: Surroundings, team: NewTeam, args: LeadArguments, resumeNote?: string): Promise<number> {
  outliveOutput();
  const interrupt = new AbortController();
  const own = args.print ? undefined : await openTeamScreen(surroundings, team, () => onSignal());
  const onSignal = () => {
    // The second time the person wants out now: members that were not asked yet are, and save their work without us.
    if (interrupt.signal.aborted) return void Promise.race([askToEnd(team.folder), sleep(1000)]).finally(() => process.exit(130));
    const text = "Stopping the team: its work is being saved. Once more ends the lead at once.";
    if (own) own.screen.dim(text);
    else process.stderr.write(`\n${text}\n`);
    interrupt.abort();
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  // A terminal that closes sends it more than once, also while the team is being saved.
  process.on("SIGHUP", () => interrupt.abort());
  let openQuestions = 0;
  const note = (text: string) => process.stderr.write(`${plainText(text)}\n`);
  const isScreen = process.stdout.isTTY === true && !surroundings.env.NO_COLOR;
  const plain = own?.screen ?? new PlainScreen({ input: process.stdin, output: process.stdout, isScreen });
  const headless = args.print || process.stdin.isTTY !== true;
  if (args.outputFormat === "events")
    process.stdout.write(`${JSON.stringify({ type: "start", version: 1, session: team.team.name, agent: LEAD })}\n`);
  const screen = args.print
    ? headlessTeamScreen(
        note,
        (event) => {
          if (args.outputFormat === "events") process.stdout.write(`${JSON.stringify(event)}\n`);
        },
        () => {
          openQuestions += 1;
        },
      )
    : (own?.team ?? plainTeamScreen(plain));
  if (headless && !args.print) {
    delete screen.askHuman;
    delete screen.askPlan;
  }
  for (const warning of surroundings.warnings) screen.note(warning);
  const { name } = team.team;
  screen.note(`Team ${name}, branch ${team.ground.baseBranch}. Look at it: ${elsewhere(surroundings.env)}roocode team status ${name}`);
  try {
    const outcome = await runTeam(
      surroundings,
      {
        ...team,
        maxRunning: args.teammates ?? surroundings.settings.team?.teammates ?? DEFAULT_TEAMMATES,
        coordinator: args.coordinator,
        headless,
        layout: args.layout,
        ...(resumeNote === undefined ? {} : { resumeNote }),
        ...(own ? { onBegin: own.onBegin } : {}),
      },
      screen,
      interrupt.signal,
    );
    const exitCode = outcome.exitCode === 0 && openQuestions > 0 ? 4 : outcome.exitCode;
    own?.close();
    report({ ...outcome, exitCode }, args, plain);
    return exitCode;
  } finally {
    own?.close();
    plain.close();
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
  }
}

/** A worker takes the signal as a request to stop; one inside this process ends with it. */
async function askToEnd(folder: string): Promise<void> {
  const { members } = await readRoster(folder);
  for (const { process: its } of members) if (its && its.pid !== process.pid && isAlive(its)) process.kill(its.pid, "SIGTERM");
}

/** A team whose data is not where the person's own commands look (the demo's). */
function elsewhere({ ROOCODE_HOME: home }: NodeJS.ProcessEnv): string {
  return home === undefined || home === process.env.ROOCODE_HOME ? "" : `ROOCODE_HOME=${home} `;
}

function report(outcome: TeamOutcome, { print, outputFormat, isDemo }: LeadArguments, plain: Screen): void {
  if (!print) {
    const text = isDemo && outcome.exitCode === 130 ? "Interrupted." : outcome.text;
    plain.line(process.stdout.isTTY ? wrapWords(text, process.stdout.columns || text.length) : text);
    return;
  }
  const said = outcome.words === "" || outcome.words === outcome.text ? outcome.text : `${outcome.words}\n\n${outcome.text}`;
  if (outputFormat === "text") process.stdout.write(`${said}\n`);
  else {
    const { text: _text, words: _words, exitCode, tasks, spent, ...rest } = outcome;
    const brief = tasks.map((task) => ({
      id: task.id,
      subject: task.subject,
      status: task.status,
      ...(task.owner ? { owner: task.owner } : {}),
      ...(task.spent ? { spent: task.spent } : {}),
    }));
    const result = {
      type: "result",
      ...rest,
      exit_code: exitCode,
      is_error: exitCode !== 0,
      result: said,
      tasks: brief,
      usage: wireUsage(spent.usage),
      ...(spent.cost === undefined ? {} : { total_cost_usd: spent.cost }),
    };
    process.stdout.write(`${JSON.stringify(result)}\n`);
  }
}
