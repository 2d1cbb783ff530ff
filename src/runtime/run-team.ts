import { rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { sweepTempFolders } from "../platform/temp-folder.ts";
import type { AgentEvent } from "../protocol/agent.ts";
import type { PermissionMode } from "../protocol/permission.ts";
import { INTEGRATOR, LEAD, type TeamEvent, type TeamStep } from "../protocol/team.ts";
import { NOBODY } from "../safety/authorize.ts";
import { retryText } from "../team/agent-presence.ts";
import { openTeamBus } from "../team/bus/team-bus.ts";
import { cleanTeam } from "../team/clean.ts";
import { converge } from "../team/converge/converge.ts";
import type { LeadEnd } from "../team/lead.ts";
import { onRejectedMail } from "../team/rejected-mail.ts";
import { followLog, logPath, parseLogLine, TeamLog } from "../team/team-log.ts";
import { spentText } from "./cost-text.ts";
import { integratorsSpent, runIntegrator } from "./integrator.ts";
import { runLeadAgent } from "./lead.ts";
import type { LeadScreen } from "./lead-screen.ts";
import { leftBranches } from "./left-branches.ts";
import { openHooks } from "./open-hooks.ts";
import { Spending } from "./spending.ts";
import type { WorkerScreen } from "./start-worker.ts";
import type { Surroundings } from "./surroundings.ts";
import { integrationPath, makeBackend, spawnContext } from "./team-backend.ts";
import type { NewTeam } from "./team-create.ts";
import { fileAway, stopMembers } from "./team-end.ts";
import { mergeHooks, tellConverged } from "./team-hooks.ts";
import { describeEnd, type TeamOutcome } from "./team-outcome.ts";
import { totalSpent } from "./team-status.ts";
import { worktreeLock } from "./worktree-lock.ts";
import { worktreeNeeds } from "./worktree-needs.ts";

export type TeamRun = NewTeam & {
  maxRunning: number;
  coordinator: boolean;
  headless: boolean;
  layout: "auto" | "split" | "window";
  resumeNote?: string;
  /** Given the way by which the one who started the team writes to its lead. */
  onBegin?: (tell: (text: string) => void) => void;
};

export type TeamScreen = LeadScreen & {
  step: (step: TeamStep) => void;
  integrator: (event: AgentEvent) => void;
  memberScreen: (name: string) => WorkerScreen;
  /** All that a teammate's log tells, of whatever process it is. */
  member?: (name: string, event: TeamEvent["event"]) => void;
};

/** A team from its first turn to its end: led, converged, tidied when all is well, kept whole when it is not. */
export async function runTeam(surroundings: Surroundings, run: TeamRun, screen: TeamScreen, signal: AbortSignal): Promise<TeamOutcome> {
  const { team, folder, ground, mode } = run;
  const log = new TeamLog(folder, screen.note);
  const onStep = (step: TeamStep) => {
    log.add(LEAD, step);
    screen.step(step);
  };
  const logged = (agent: string, show: (event: AgentEvent) => void) => (event: AgentEvent) => {
    log.add(agent, event);
    show(event);
  };
  await using bus = await openTeamBus({
    teamFolder: folder,
    self: { name: LEAD, epoch: 1 },
    onBad: onRejectedMail({ self: LEAD, onStep, onProblem: screen.note, mailbox: () => bus.mailbox }),
  });
  const backend = makeBackend({
    kind: run.choice.kind,
    team: team.name,
    teamFolder: folder,
    bus,
    env: surroundings.env,
    pane: surroundings.settings.team?.pane,
    layout: run.layout,
    onNote: screen.note,
    screenOf: screen.memberScreen,
  });
  const following = new AbortController();
  const denied = new Set<string>();
  const followed = followLog(logPath(folder), await sizeOf(logPath(folder)), (line) => showStep(line, screen, denied), following.signal)
    // A picture that is missing must not end the work.
    .catch((error: unknown) => screen.note(`The team's log can't be shown: ${error instanceof Error ? error.message : String(error)}`));
  onStep({ type: "backend", ...run.choice });
  const needs = await worktreeNeeds(surroundings);
  const spawn = spawnContext({
    surroundings,
    bus,
    teamFolder: folder,
    team: team.name,
    primary: ground.primary,
    needs,
    backend,
    mode,
    headless: run.headless,
    onStep,
    onNote: screen.note,
  });
  await using hooks = await openHooks(surroundings, screen.note);
  const integrators = new Spending(await integratorsSpent(folder));
  const leadScreen: LeadScreen = { ...screen, event: logged(LEAD, screen.event) };

  const end = await runLeadAgent(
    {
      surroundings,
      team,
      teamFolder: folder,
      bus,
      spawn,
      mode,
      coordinator: run.coordinator,
      maxRunning: run.maxRunning,
      ...(run.resumeNote === undefined ? {} : { resumeNote: run.resumeNote }),
      ...(run.onBegin ? { onBegin: run.onBegin } : {}),
      integrators,
      hooks,
      converge: async (guidance, leadSide, convergeSignal) => {
        const report = await converge({
          ...mergeHooks(leadSide.fireHook, convergeSignal),
          bus,
          checkout: ground.checkout,
          primary: ground.primary,
          integrationPath: integrationPath(surroundings, ground.primary, team.name),
          worktreeLock: worktreeLock(surroundings, ground.primary),
          needs,
          ...(guidance === undefined ? {} : { guidance }),
          runIntegrator: (job, jobSignal) =>
            runIntegrator(
              job,
              {
                surroundings,
                team: team.name,
                hooks,
                bus,
                teamFolder: folder,
                mode: integratorMode(mode),
                model: team.lead?.model,
                ...leadSide,
                spending: integrators,
                askHuman: screen.askHuman
                  ? (...question) => screen.askHuman?.(undefined, ...question) ?? Promise.resolve(undefined)
                  : undefined,
                askUser: screen.askUser,
                onEvent: logged(INTEGRATOR, screen.integrator),
                onStep,
              },
              jobSignal,
            ),
          onStep,
          onNote: screen.note,
          signal: convergeSignal,
        });
        await tellConverged(report, leadSide.fireHook, convergeSignal);
        return report;
      },
      onStep,
      screen: leadScreen,
    },
    signal,
  )
    .catch(async (error: unknown) => {
      // A bug in the lead must not leave its team behind waiting.
      await stopMembers(bus, backend, "the lead failed");
      throw error;
    })
    .finally(async () => {
      following.abort();
      await followed;
    });
  const outcome = await finish(end);
  await log.flush();
  if (denied.size === 0) return outcome;
  return { ...outcome, text: `${outcome.text}\nDenied for want of a person: ${[...denied].join("; ")} Or use a wider --permission-mode.` };

  async function forgotten(outcome: TeamOutcome): Promise<TeamOutcome> {
    await rm(folder, { recursive: true, force: true });
    return { ...outcome, text: `${outcome.text}\nThe team ${team.name} had not begun: nothing is kept of it.` };
  }

  async function finish(ended: LeadEnd): Promise<TeamOutcome> {
    const forced = await stopMembers(bus, backend, signal.aborted ? "the lead was interrupted" : "the team is done");
    // What the members that were killed, or ended last, had there.
    sweepTempFolders(tmpdir());
    if (forced.length > 0) screen.note(`Had to end: ${forced.join(", ")}; their work is in their worktrees.`);
    const tasks = await bus.tasks.list();
    const now = await bus.roster.read();
    const described = describeEnd(ended, now, tasks);
    const detail = described.text.split("\n", 1)[0] ?? "";
    await bus.presence.beat({ name: LEAD, status: "stopped", at: new Date().toISOString(), detail });
    const spent = totalSpent(await bus.presence.list());
    const took = spent.usage.output === 0 ? "" : `\nThe team took ${spentText(spent)}.`;
    const left = team.merge === false ? await leftBranches(now) : "";
    const outcome = { ...described, spent, folder, text: `${described.text}${left === "" ? "" : `\n${left}`}${took}` };
    // Not for the screen: it shows the outcome itself.
    log.add(LEAD, { type: "ended", exitCode: outcome.exitCode, text: outcome.text });
    const keeps = outcome.exitCode !== 0 || team.merge === false;
    if (keeps) {
      await log.flush();
      // A team that never had a member leaves nothing that could be gone on with.
      if ((await bus.roster.read()).members.length === 0 && tasks.length === 0 && ended.type === "failed") return forgotten(outcome);
      return outcome;
    }
    const cleaned = await cleanTeam({
      bus,
      primary: ground.primary,
      checkout: ground.checkout,
      worktrees: spawn.worktrees,
      worktreeLock: spawn.worktreeLock,
      needs,
    });
    onStep({ type: "cleaned", removed: cleaned.removed, kept: cleaned.kept });
    if (cleaned.kept.length > 0) screen.note(cleaned.text);
    // A line that comes after the record was moved would make its old folder again.
    await log.flush();
    return cleaned.kept.length > 0 ? outcome : { ...outcome, folder: await fileAway(folder, surroundings.data.doneTeams, team.name) };
  }
}

/** What teammates do, in processes of their own, shows in the lead's terminal as it happens: they write it into the team's log. */
function showStep(line: string, screen: TeamScreen, denied: Set<string>): void {
  const entry = parseLogLine(line);
  if (!entry) return;
  const { agent, event } = entry;
  if (
    event.type === "permission" &&
    event.decision.decision === "deny" &&
    event.decision.layer !== "human" &&
    event.decision.reason.includes(NOBODY)
  ) {
    denied.add(`${agent}: ${event.request.tool}(${event.request.access.subject.slice(0, 200)}): ${event.decision.reason}`);
  }
  if (agent === LEAD || agent === INTEGRATOR) return;
  screen.member?.(agent, event);
  if (event.type === "retry") screen.note(`${agent}: ${retryText(event)}`);
  if (event.type === "task" || event.type === "joined" || event.type === "mail_rejected" || (event.type === "message" && "from" in event))
    screen.step(event);
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

/** A merge can't be done while planning. */
function integratorMode(mode: PermissionMode): PermissionMode {
  return mode === "plan" ? "default" : mode;
}
