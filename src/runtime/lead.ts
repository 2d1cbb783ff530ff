import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { TeammateRequest } from "../engine/subagents/agent-tool.ts";
import { getAutoBackgroundMs } from "../engine/subagents/background.ts";
import { systemPrompt } from "../engine/system-prompt.ts";
import { identity } from "../platform/commit.ts";
import { collectOnceWhenIdle } from "../platform/idle-collection.ts";
import { selfIdentity } from "../platform/process.ts";
import type { AgentEvent, AgentInput, Pending } from "../protocol/agent.ts";
import { UserError } from "../protocol/errors.ts";
import type { FireHook } from "../protocol/hook.ts";
import { addSpent } from "../protocol/model.ts";
import type { AskHuman, PermissionMode } from "../protocol/permission.ts";
import { LEAD, type TeamBus, type TeamConfig, type TeammateInfo, type TeamStep } from "../protocol/team.ts";
import { AgentPresence } from "../team/agent-presence.ts";
import { teamLayout } from "../team/bus/file/layout.ts";
import type { ConvergeReport } from "../team/converge/report.ts";
import { DeathWatch } from "../team/death-watch.ts";
import { envelopeText, type ProtocolEnvelope } from "../team/inbox.ts";
import { type LeadEnd, runLead } from "../team/lead.ts";
import { MailReader } from "../team/mail-reader.ts";
import { RoomForTeammates } from "../team/room.ts";
import { reviveTeammate, type SpawnContext, spawnTeammate } from "../team/spawn.ts";
import { convergeTool } from "../team/tools/converge.ts";
import { askUserTool } from "../tools/builtin/ask-user.ts";
import { taskStopTool } from "../tools/builtin/task-stop.ts";
import { FileState } from "../tools/file-state.ts";
import { firstInput } from "./agent-memory.ts";
import { agentsFolder } from "./agents-folder.ts";
import { builtInPrompt } from "./built-in-agent.ts";
import type { LeadScreen } from "./lead-screen.ts";
import { MemberQuestions } from "./member-questions.ts";
import { memberTools } from "./member-tools.ts";
import { type OpenedAgent, openAgent } from "./open-agent.ts";
import type { OpenedHooks } from "./open-hooks.ts";
import type { Permissions } from "./permissions.ts";
import { SessionAgents } from "./session-agents.ts";
import type { Spending } from "./spending.ts";
import { subagentTools } from "./subagent-tools.ts";
import type { Surroundings } from "./surroundings.ts";
import { requirePrice, teamBudget } from "./team-budget.ts";
import { tellOfMail } from "./team-hooks.ts";
import { teamReminders } from "./team-reminders.ts";
import { workTools } from "./toolset.ts";
import { writeToAgentsToo } from "./write-to-agents.ts";

const PLAN_WAITS =
  "<system-reminder>This member changes nothing before you answer with SendMessage: plan_approval_response, its requestId, approve, and feedback on what to change. Weigh the plan against the goal, the other members' files and what is missing.</system-reminder>";
const LEAD_TURNS = 200;
/** A look reads the record of each member. An idle team of 8 is to cost less than 1 % of a core, and no death needs to be told sooner. */
const MONITOR_MS = 4_000;
/** With nobody at a terminal, so long a process may stay suspended. */
const SUSPENDED_MS = 5 * 60_000;

export type LeadRequest = {
  surroundings: Surroundings;
  team: TeamConfig;
  teamFolder: string;
  bus: TeamBus;
  spawn: SpawnContext;
  mode: PermissionMode;
  coordinator: boolean;
  maxRunning: number;
  /** What a lead that goes on reads first. */
  resumeNote?: string;
  onBegin?: (tell: (text: string) => void) => void;
  hooks: OpenedHooks | undefined;
  /** Of the integrators, who count as the lead. */
  integrators: Spending;
  converge: (guidance: string | undefined, lead: LeadSide, signal: AbortSignal) => Promise<ConvergeReport>;
  onStep: (step: TeamStep) => void;
  screen: LeadScreen;
};

/** What the integrator does in the lead's stead while Converge runs: it reads the mail, and is seen and counted as the lead. */
export type LeadSide = {
  pending: () => Promise<Pending | undefined>;
  acknowledge: (ids: readonly string[]) => Promise<void>;
  overBudget: () => Promise<string | undefined>;
  observe: (event: AgentEvent, worker?: string) => void;
  /** In the lead's name. */
  fireHook: FireHook | undefined;
};

/** The lead as an agent of this process: its tools, its mail, its life. Resolves when the team's work is over. */
export async function runLeadAgent(request: LeadRequest, signal: AbortSignal): Promise<LeadEnd> {
  const { surroundings, team, teamFolder, bus, screen, onStep, hooks } = request;
  const openPlans = new Map<string, string>();
  const reminded = new Set<string>();
  /** Asked to stop, and not heard of since: what is sent to them now is read by their next start. */
  const stopping = new Set<string>();
  const room = new RoomForTeammates(bus, request.maxRunning, (name) => stopping.add(name));
  let report: ConvergeReport | undefined;
  const spent = () => addSpent(opened.spending.spent, request.integrators.spent);
  const overBudget = teamBudget(bus, LEAD, spent);
  const presence = new AgentPresence(bus.presence, LEAD, spent);
  const runConverge = async (guidance: string | undefined, convergeSignal: AbortSignal) => {
    report = undefined;
    const made = await request.converge(
      guidance,
      {
        pending: () => mail.take(),
        acknowledge: (ids) => mail.acknowledge(ids),
        overBudget,
        observe: (event, worker) => presence.observe(event, worker),
        fireHook: opened.fireHook,
      },
      convergeSignal,
    );
    report = made;
    return made;
  };

  const fire: FireHook = async (event, fireSignal) => (await opened.fireHook?.(event, fireSignal)) ?? {};
  const spawn: SpawnContext = {
    ...request.spawn,
    onWorktree: async ({ worktreePath: worktree, branch }) => void (await fire({ event: "worktree_created", worktree, branch }, signal)),
  };
  const revive = async (name: string): Promise<string> => {
    await room.take(name, signal);
    const before = (await bus.roster.read()).members.find((member) => member.name === name)?.epoch;
    const { epoch } = await reviveTeammate(name, spawn, signal, stopping.has(name));
    stopping.delete(name);
    return epoch === before ? `${name} still runs and wakes up by it.` : `${name} was started again with all it knew.`;
  };
  const spawnOne = async (wanted: TeammateRequest, callSignal: AbortSignal): Promise<string> => {
    if (wanted.model !== undefined) requirePrice(surroundings, team.maxCost, wanted.model);
    await room.take(wanted.name, callSignal);
    const info = await spawnTeammate(wanted, spawn, callSignal).catch((error: unknown) => {
      // The model hears it too, but may not say so, and the person can mend what it can't.
      if (error instanceof UserError) screen.note(error.message);
      throw error;
    });
    const { name: teammate, branch, worktreePath: worktree } = info;
    await fire({ event: "teammate_spawned", teammate, branch, worktree }, callSignal);
    return `${info.name} is ready (${info.backendType}, mode ${info.permissionMode}), in its worktree on branch ${info.branch}.`;
  };

  const { askHuman } = screen;
  const asking =
    askHuman &&
    ((permissions: () => Permissions): AskHuman =>
      async (...question) =>
        askHuman(await permissions().alwaysRule(question[0], question[1]), ...question));
  const { artifacts, waits } = teamLayout(teamFolder);
  const scope = { auditPath: join(teamFolder, "audit.jsonl"), extraRoots: [artifacts] };
  const sessionPath = join(teamFolder, "sessions", `${LEAD}.jsonl`);
  const toolSettings = surroundings.settings.tools ?? {};
  const read = new FileState();
  const agents = new SessionAgents({
    surroundings,
    folder: agentsFolder(sessionPath),
    root: surroundings.root,
    cwd: () => surroundings.root,
    mode: () => request.mode,
    parent: () => opened,
    files: read,
    tools: subagentTools(surroundings, (item) => opened.permissions.isAccepted(item)),
    isCoordinator: request.coordinator,
    isSynchronous: false,
    autoBackgroundMs: getAutoBackgroundMs(surroundings.env),
    scope,
    waits,
    askHuman: asking,
    hooks,
    team: team.name,
    onNews: () => {
      const news = agents.news();
      if (news !== undefined) mail.tell(news);
    },
    onNote: screen.note,
  });
  const role = await builtInPrompt("coordinator");
  await using opened: OpenedAgent = await openAgent(surroundings, {
    name: LEAD,
    root: surroundings.root,
    cwd: surroundings.root,
    mode: () => request.mode,
    maxTurns: LEAD_TURNS,
    model: team.lead?.model,
    sessionId: randomUUID(),
    sessionPath,
    system: (environment) => systemPrompt(environment, role, ""),
    tools: ({ shell, bash, web, mayShow }) => [
      ...(request.coordinator
        ? [askUserTool(screen.askUser), taskStopTool(shell, agents.stop)]
        : workTools({ web, shell, bash, files: read, mayShow, askUser: screen.askUser, stopOther: agents.stop, settings: toolSettings })),
      ...writeToAgentsToo(
        memberTools({
          bus,
          self: LEAD,
          role: "lead",
          process: selfIdentity(),
          onStep,
          reviveMember: revive,
          openPlans,
          stopping,
          fireHook: () => opened.fireHook,
        }),
        bus.roster,
        agents,
      ),
      agents.agentTool(spawnOne),
      ...(team.merge === false ? [] : [convergeTool(runConverge, bus.presence)]),
    ],
    pending: () => mail.take(),
    hooks: hooks && { hooks, agentType: LEAD, team: team.name },
    overBudget,
    preserve: () => teamReminders(bus, LEAD, "lead", report?.merged),
    askHuman: asking?.(() => opened.permissions),
    shellEnv: await identity(surroundings.root),
    onNotice: screen.note,
    scope,
    waits,
  });
  for (const note of opened.notes) screen.note(note);

  const onProtocol = async (envelope: ProtocolEnvelope): Promise<void> => {
    const { id, from, body } = envelope;
    switch (body.type) {
      case "permission_request":
        questions.askPermission(id, from, body);
        break;
      case "permission_settled":
        questions.settle(body.requestId);
        break;
      case "shutdown_response":
        if (body.approve) stopping.delete(from);
        screen.note(body.approve ? `${from} has stopped.` : `${from} does not stop: ${body.feedback ?? "it did not say why"}`);
        break;
      case "plan_approval_request":
        onStep({ type: "message", from, to: LEAD, summary: "asks for the approval of its plan", kind: body.type });
        if (team.plan === "me") questions.askPlan(id, from, body.text);
        else {
          openPlans.set(id, from);
          mail.tell(`${envelopeText(envelope)}\n${PLAN_WAITS}`);
        }
        break;
      case "shutdown_request":
      case "plan_approval_response":
      case "permission_response":
        screen.note(`A ${body.type} (${id}) is not for the lead.`);
        break;
    }
  };
  const questions = new MemberQuestions({ bus, screen, permissions: opened.permissions, signal });

  const mail = new MailReader({
    mailbox: bus.mailbox,
    self: LEAD,
    seen: opened.mail,
    onProtocol,
    onSetAside: (envelope, reason) => screen.note(`Set aside a message of ${envelope.from}: ${reason}.`),
    onTaken: (envelopes) => tellOfMail(envelopes, opened.fireHook),
    onProblem: screen.note,
  });
  request.onBegin?.((text) => mail.tell(text));
  const pumpEnd = new AbortController();
  const pump = mail.pump(AbortSignal.any([signal, pumpEnd.signal]));
  const deaths = new DeathWatch(
    bus,
    (member) => howItEnded(member, spawn),
    (step) => {
      onStep(step);
      // Who stops on purpose fires it in its own process.
      if (step.type === "dead") void fire({ event: "teammate_stopped", teammate: step.name, reason: step.how }, signal);
    },
    { endSuspendedMs: request.spawn.boot.headless ? SUSPENDED_MS : undefined },
  );
  try {
    await agents.goOn();
    const left = agents.news();
    if (left !== undefined) mail.tell(left);
    await opened.start();
    await bus.presence.beat({ name: LEAD, status: "busy", at: new Date().toISOString(), spent: spent() });
    const first: AgentInput =
      // A lead that was ended before its first turn has not read its goal.
      request.resumeNote === undefined || opened.isNew
        ? await firstInput(
            opened.memory,
            [team.goal, ...(request.resumeNote === undefined ? [] : [request.resumeNote])].join("\n\n"),
            screen.note,
          )
        : { message: { role: "user", content: [{ type: "text", text: request.resumeNote }] } };
    return await runLead(
      first,
      {
        bus,
        agent: opened.agent,
        mail,
        deaths,
        merge: team.merge !== false,
        hasHelpers: () => agents.running.length > 0,
        unanswered: () => {
          const open = [...openPlans].filter(([id]) => !reminded.has(id));
          for (const [id] of open) reminded.add(id);
          return open.length === 0 ? undefined : open.map(([id, from]) => planWaits(id, from)).join("\n");
        },
        unreadOf: async (name) => (await bus.mailbox.waitingFor(name)).waking,
        converge: (convergeSignal) => runConverge(undefined, convergeSignal),
        report: () => report,
        onEvent: (event) => {
          presence.observe(event);
          screen.event(event);
          if (event.type === "round_end" || event.type === "loop_complete") void collectOnceWhenIdle();
        },
        onStatus: screen.status,
        monitorMs: MONITOR_MS,
      },
      signal,
    );
  } finally {
    await agents[Symbol.asyncDispose]();
    pumpEnd.abort();
    await pump;
  }
}

function planWaits(requestId: string, from: string): string {
  return `<system-reminder>${from} waits for your answer to its plan (requestId ${requestId}) and does nothing meanwhile. Answer with SendMessage, type plan_approval_response. This is said once.</system-reminder>`;
}

async function howItEnded({ paneId, backendType }: TeammateInfo, { backend }: SpawnContext): Promise<string | undefined> {
  if (paneId === undefined) return backendType === "in-process" ? undefined : "it never reported ready";
  const state = await backend.state(paneId);
  if (state.alive) return backendType === "in-process" ? undefined : "its process is gone, its pane is still there";
  if (state.signal !== undefined) return `ended by signal ${state.signal}`;
  return state.status === undefined ? "its process is gone" : `ended with exit status ${state.status}`;
}
