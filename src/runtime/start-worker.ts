import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { getAutoBackgroundMs } from "../engine/subagents/background.ts";
import { mayUseInProcess } from "../engine/subagents/filter-tools.ts";
import { systemPrompt } from "../engine/system-prompt.ts";
import { type CommitRequest, commitAll, identity } from "../platform/commit.ts";
import { GitError, gitText } from "../platform/git.ts";
import { collectOnceWhenIdle } from "../platform/idle-collection.ts";
import { isAlive, selfIdentity } from "../platform/process.ts";
import type { AgentEvent } from "../protocol/agent.ts";
import { UserError } from "../protocol/errors.ts";
import { NOTHING_SPENT, type Spent } from "../protocol/model.ts";
import type { AskHuman } from "../protocol/permission.ts";
import type { MemberStatus, ProcessIdentity, Roster, TeamBus, TeammateInfo, TeamTask } from "../protocol/team.ts";
import { AgentPresence } from "../team/agent-presence.ts";
import type { Boot } from "../team/boot.ts";
import { teamLayout } from "../team/bus/file/layout.ts";
import { openTeamBus } from "../team/bus/team-bus.ts";
import { envelopeText, type ProtocolEnvelope } from "../team/inbox.ts";
import { LeadAnswers } from "../team/lead-answers.ts";
import { commandMark } from "../team/left-commands.ts";
import { MailReader } from "../team/mail-reader.ts";
import type { OverlapNews } from "../team/overlap-news.ts";
import { permissionRelay } from "../team/permission-relay.ts";
import { onRejectedMail } from "../team/rejected-mail.ts";
import { TeamLog } from "../team/team-log.ts";
import { listAtStart } from "../team/tools/task-view.ts";
import { runWorker, WorkerControl, type WorkerEnd, withMember } from "../team/worker.ts";
import type { AskUser } from "../tools/builtin/ask-user.ts";
import { FileState } from "../tools/file-state.ts";
import { firstInput } from "./agent-memory.ts";
import { agentsFolder } from "./agents-folder.ts";
import { builtInPrompt } from "./built-in-agent.ts";
import { type AtClaim, completion, runTaskCheck } from "./complete-task.ts";
import { goOnText } from "./go-on-text.ts";
import { joinReminders } from "./join-reminders.ts";
import { MemberPlan } from "./member-plan.ts";
import { taskText } from "./member-task.ts";
import { memberTools } from "./member-tools.ts";
import { type OpenedAgent, openAgent } from "./open-agent.ts";
import { openHooks } from "./open-hooks.ts";
import type { PermissionScope } from "./permissions.ts";
import { SessionAgents } from "./session-agents.ts";
import type { Settings } from "./settings-schema.ts";
import { openSkills } from "./skill-places.ts";
import { subagentTools } from "./subagent-tools.ts";
import { readSurroundings } from "./surroundings.ts";
import { requirePrice, teamBudget } from "./team-budget.ts";
import { tellOfMail } from "./team-hooks.ts";
import { teamReminders } from "./team-reminders.ts";
import { workTools } from "./toolset.ts";
import { writeToAgentsToo } from "./write-to-agents.ts";

const TEAMMATE_TURNS = 200;
const LEAD_CHECK_MS = 4_000;
const ORPHAN_TIMEOUT_MS = 30 * 60_000;

export type WorkerScreen = {
  event: (event: AgentEvent) => void;
  status: (status: MemberStatus, detail?: string) => void;
  note: (text: string) => void;
  /** Before all else: what the settings say of the screen. */
  settings?: (settings: Pick<Settings, "screen">) => void;
  /** What it works on, or will: `2: write the tests`. */
  task?: (task: string | undefined) => void;
  /** Beside its model: `an answer: Bash(npm publish)`. */
  waits?: (what: string | undefined) => void;
  askHuman?: AskHuman;
  askUser?: AskUser;
};

/** Becomes the member that the boot file names, until it is asked to stop. For a process of its own and for one inside the lead. */
export async function startWorker(
  boot: Boot,
  screen: WorkerScreen,
  signal: AbortSignal,
  control = new WorkerControl(),
): Promise<WorkerEnd> {
  const self = boot.name;
  const process = selfIdentity();
  const log = new TeamLog(boot.teamFolder, screen.note);
  await using bus = await openTeamBus({
    teamFolder: boot.teamFolder,
    self: { name: self, epoch: boot.epoch },
    onBad: onRejectedMail({ self, onStep: (step) => log.add(self, step), onProblem: screen.note, mailbox: () => bus.mailbox }),
  });
  const team = await bus.roster.read();
  const info = team.members.find((member) => member.name === self);
  if (!info || info.epoch !== boot.epoch) throw new UserError(`${self} is not expected in team "${boot.team}" any more.`);

  const surroundings = await readSurroundings(info.worktreePath, boot.env, {
    permissionMode: boot.permissionMode,
    trust: boot.trust,
    addDir: boot.addDirs,
  });
  screen.settings?.(surroundings.settings);
  requirePrice(surroundings, team.maxCost, boot.model);
  const save = async (request: CommitRequest) =>
    commitAll(info.worktreePath, {
      ...request,
      branch: info.branch,
      trailers: { ...request.trailers, "RooCode-Agent": `${self}@${team.name}` },
    });

  // A check that runs when the member is asked to stop ends with it.
  const stopping = new AbortController();
  const atClaim = new Map<string, AtClaim>();
  let overlaps: Promise<OverlapNews> | undefined;
  const meetings: string[] = [];
  const foresee = async () => {
    overlaps ??= import("../team/overlap-news.ts").then(
      (loaded) =>
        new loaded.OverlapNews({
          bus,
          folder: teamLayout(boot.teamFolder).overlaps,
          self: info,
          onSent: (to, { type: kind, summary }) => log.add(self, { type: "message", from: self, to, summary, kind }),
        }),
    );
    const text = await overlaps
      .then((news) => news.look())
      .catch((error: unknown) => {
        screen.note(`Who changes what could not be seen: ${error instanceof Error ? error.message : String(error)}`);
      });
    if (text !== undefined) meetings.push(`<system-reminder>\n${text}\n</system-reminder>`);
  };
  const check = (command: string) => runTaskCheck(command, { info, teamCheck: team.check, agent: opened }, stopping.signal);
  const beforeComplete = async (task: TeamTask) => {
    const done = await completion(task, info, atClaim.get(task.id), save, spent, check);
    if (done.ok) await foresee();
    return done;
  };
  const isLeadAlive = leadCheck(bus.roster, () => control.requestShutdown("it is not in the team any more"), info);
  let opened: OpenedAgent | undefined;
  const spent = (): Spent => opened?.spending.spent ?? NOTHING_SPENT;
  const tellTask = async () => {
    if (!screen.task) return;
    const tasks = await bus.tasks.list().catch((error: unknown) => {
      screen.note(`The tasks could not be read: ${error instanceof Error ? error.message : String(error)}`);
    });
    if (tasks) screen.task(taskText(tasks, self));
  };
  const onWait = async (what: string | undefined) => {
    screen.waits?.(what);
    await bus.presence.beat({
      name: self,
      status: what === undefined ? "busy" : "waiting",
      at: new Date().toISOString(),
      ...(what ? { detail: what } : {}),
    });
  };
  const answers = new LeadAnswers(async (stop) => {
    while (!stop.aborted && (await isLeadAlive())) await sleep(LEAD_CHECK_MS, undefined, { signal: stop }).catch(() => undefined);
  });
  const relayed = permissionRelay({
    mailbox: bus.mailbox,
    answers,
    alwaysRule: async (request, decision) => opened?.permissions.alwaysRule(request, decision),
    onWait,
    ownPane: screen.askHuman,
  });
  const plan =
    info.planModeRequired && !info.planApproved ? new MemberPlan({ bus, info, teamFolder: boot.teamFolder, answers, onWait }) : undefined;
  const mode = () => plan?.mode() ?? boot.permissionMode;

  let taskNow: string | undefined;
  await using hooks = await openHooks(surroundings, screen.note);
  const isInProcess = info.backendType === "in-process";
  const sessionPath = join(boot.teamFolder, "sessions", `${self}.jsonl`);
  const isAccepted = (item: string) => opened?.permissions.isAccepted(item) ?? false;
  const skills = openSkills(surroundings, isAccepted);
  const { artifacts, waits } = teamLayout(boot.teamFolder);
  const scope: PermissionScope = {
    team: { primaryCheckout: surroundings.projectRoot, ownBranch: info.branch, worktreesRoot: surroundings.data.worktrees },
    auditPath: join(boot.teamFolder, "audit.jsonl"),
    extraRoots: [artifacts],
    ...(plan ? { planFile: plan.file, awaitsApproval: () => plan.isPlanning } : {}),
    ...skills.scope,
  };
  const shellEnv = { ...(await identity(info.worktreePath)), ...commandMark(info) };
  const askHuman = boot.headless ? undefined : relayed;
  const toolSettings = surroundings.settings.tools ?? {};
  const read = new FileState();
  const agents = new SessionAgents({
    surroundings,
    folder: agentsFolder(sessionPath),
    root: info.worktreePath,
    cwd: () => info.worktreePath,
    mode,
    parent: () => {
      if (!opened) throw new Error(`${self} is not open.`);
      return opened;
    },
    files: read,
    tools: subagentTools(surroundings, isAccepted),
    isCoordinator: false,
    isSynchronous: isInProcess,
    autoBackgroundMs: getAutoBackgroundMs(boot.env),
    scope,
    waits,
    shellEnv,
    ...(askHuman ? { askHuman: () => askHuman } : {}),
    hooks,
    team: team.name,
    onNews: () => undefined,
    onNote: screen.note,
  });
  opened = await openAgent(surroundings, {
    name: self,
    root: info.worktreePath,
    cwd: info.worktreePath,
    mode,
    maxTurns: TEAMMATE_TURNS,
    model: boot.model,
    sessionId: randomUUID(),
    sessionPath,
    system: await workerSystem(info, boot.team),
    tools: ({ shell, bash, web, mayShow, addTools }) => {
      const askUser = screen.askUser ?? (async () => undefined);
      const member = memberTools({
        bus,
        self,
        role: "teammate",
        process,
        onStep: (step) => log.add(self, step),
        beforeComplete,
        fireHook: () => opened?.fireHook,
        onClaim: async (task) => {
          taskNow = task.id;
          atClaim.set(task.id, { head: await gitText(info.worktreePath, ["rev-parse", "HEAD"]), spent: spent() });
        },
      });
      const all = [
        ...workTools({ web, shell, bash, files: read, mayShow, askUser, stopOther: agents.stop, settings: toolSettings }),
        ...writeToAgentsToo(member, bus.roster, agents),
        agents.agentTool(),
        ...(plan ? [plan.tool()] : []),
        skills.tool({ shell, bash, addTools, discover: async () => undefined, runApart: agents.runApart }),
      ];
      return isInProcess ? all.filter(({ name }) => mayUseInProcess(name)) : all;
    },
    resolve: async (call) => skills.resolve(call, opened?.tools.sent ?? []),
    onRunEnd: () => skills.turnEnded(),
    news: () => joinReminders(agents.news(), plan?.news(), skills.takeReminder(), ...meetings.splice(0)),
    pending: () => mail.take(),
    hooks: hooks && { hooks, agentType: info.agentType, team: team.name, worktree: info.worktreePath, task: () => taskNow },
    overBudget: teamBudget(bus, self, spent),
    preserve: async () => [...(plan?.preserved() ?? []), ...(await teamReminders(bus, self, "teammate")), ...(await skills.news([]))],
    askHuman,
    shellEnv,
    onNotice: screen.note,
    scope,
    waits,
  });
  await using agent = opened;
  for (const note of agent.notes) screen.note(note);
  const { fireHook } = agent;

  const mail = new MailReader({
    mailbox: bus.mailbox,
    self,
    seen: agent.mail,
    onSetAside: (envelope, reason) => screen.note(`Set aside a message of ${envelope.from}: ${reason}.`),
    onTaken: (envelopes) => tellOfMail(envelopes, fireHook),
    onProblem: screen.note,
    onInterrupt: () => control.interrupt("the lead"),
    onProtocol: async (envelope) => {
      const { id, body } = envelope;
      if (body.type === "shutdown_request") {
        if (envelope.at < (boot.revivedAt ?? "")) return screen.note(`A shutdown_request (${id}) of before this start does not count.`);
        control.requestShutdown(body.text === "" ? "the lead asked for it" : body.text, id);
      } else if (body.type === "permission_response") answers.take(body.requestId, body);
      else if (body.type === "plan_approval_response" && !answers.take(body.requestId, body)) mail.tell(lateAnswer(envelope));
    },
  });
  control.onShutdown = () => {
    stopping.abort();
    mail.stir();
  };
  signal.addEventListener("abort", () => control.requestShutdown("the lead ended it"), { once: true });
  const pumpEnd = new AbortController();
  const pump = mail.pump(AbortSignal.any([signal, pumpEnd.signal]));

  try {
    await agents.goOn();
    await agent.start();
    if (boot.isByHand && boot.prompt !== undefined)
      await fireHook?.({ event: "worktree_created", worktree: info.worktreePath, branch: info.branch }, signal);
    // Ready: the roster has the process, so that the one who started it knows.
    await bus.presence.beat({ name: self, status: "busy", at: new Date().toISOString(), spent: spent() });
    await bus.roster.update((now) => withMember(now, self, { process, isActive: true }));
    await tellTask();
    if (boot.isByHand) log.add(self, { type: "joined", name: self, pid: process.pid });
    if (boot.prompt !== undefined) await skills.tell();
    const first =
      boot.prompt === undefined ? undefined : await firstInput(agent.memory, await firstWords(boot.prompt, self, bus), screen.note);
    const presence = new AgentPresence(bus.presence, self, spent);
    const end = await runWorker(
      first,
      {
        self,
        bus,
        // Its turn is over when its sub-agents are done: until then it is at work.
        agent: { run: (input, run) => agents.untilDone(agent.agent, input, run, mail) },
        mail,
        control,
        save: (subject) =>
          save({ subject }).catch((error: unknown) => {
            if (!(error instanceof GitError)) throw error;
            // The work is where it was; Converge tries again, and names it.
            screen.note(`The work could not be committed: ${error.message}`);
            return undefined;
          }),
        newCommits: commitReporter(info, agent.isNew),
        isLeadAlive,
        onEvent: (event) => {
          log.add(self, event);
          if (isCommit(event)) void foresee();
          if (event.type === "tool_result" && event.call.name === "TaskUpdate") void tellTask();
          presence.observe(event);
          screen.event(event);
          if (event.type === "round_end" || event.type === "loop_complete") void collectOnceWhenIdle();
        },
        onStatus: (status, detail) => {
          screen.status(status, detail);
          void tellTask();
        },
        beforeIdle: async (text, isAgain) => {
          await foresee();
          const said = await fireHook?.({ event: "teammate_idle", text, isAgain }, stopping.signal);
          return said?.block === undefined || said.halt !== undefined ? undefined : goOnText("teammate_idle", said.block);
        },
        leadCheckMs: LEAD_CHECK_MS,
        orphanTimeoutMs: boot.orphanTimeoutMs ?? ORPHAN_TIMEOUT_MS,
      },
      signal,
    );
    const reason = control.shutdown?.reason ?? "the lead is gone";
    await fireHook?.({ event: "teammate_stopped", teammate: self, reason }, new AbortController().signal);
    return end;
  } finally {
    await agents[Symbol.asyncDispose]();
    pumpEnd.abort();
    await pump;
    await log.flush();
  }
}

/** Given to a request that an earlier process made, or to none: a plan is approved as it stands when it is sent. */
function lateAnswer(envelope: ProtocolEnvelope): string {
  return `${envelopeText(envelope)}\n<system-reminder>No plan of yours waits for this answer. If you are still planning, send your plan with ExitPlanMode again.</system-reminder>`;
}

async function firstWords(prompt: string, self: string, { tasks }: Pick<TeamBus, "tasks">): Promise<string> {
  const list = listAtStart(await tasks.list(), self);
  return list === undefined ? prompt : `${prompt}\n\n${list}`;
}

async function workerSystem(info: TeammateInfo, team: string) {
  const role = await builtInPrompt("worker", { name: info.name, team, branch: info.branch });
  return (environment: Parameters<typeof systemPrompt>[0]) => systemPrompt({ ...environment, gitBranch: info.branch }, role, "");
}

/** The model's own; those of the system come with a completed task and with idleness. */
function isCommit(event: AgentEvent): boolean {
  return (
    event.type === "tool_result" &&
    event.call.name === "Bash" &&
    typeof event.call.input.command === "string" &&
    /\bgit\b[^|;&]*\bcommit\b/.test(event.call.input.command)
  );
}

/** Commits since the last idle notice; a member that goes on tells only of new ones. */
function commitReporter(info: TeammateInfo, isNew: boolean): () => Promise<string[]> {
  let reported = isNew ? info.baseCommit : undefined;
  return async () => {
    reported ??= await gitText(info.worktreePath, ["rev-parse", "HEAD"]);
    const text = await gitText(info.worktreePath, ["log", "--reverse", "--format=%H %h %s", `${reported}..HEAD`]);
    const lines = text === "" ? [] : text.split("\n");
    reported = lines.at(-1)?.split(" ", 1)[0] ?? reported;
    return lines.map((line) => line.slice(line.indexOf(" ") + 1));
  };
}

/** The lead may have been replaced: the roster is read again only when the one we knew is gone. */
function leadCheck(roster: Pick<Roster, "read">, onLeft: () => void, { name, epoch }: TeammateInfo): () => Promise<boolean> {
  let known: ProcessIdentity | undefined;
  return async () => {
    if (known && isAlive(known)) return true;
    const { lead, members } = await roster.read();
    // A new lead may have taken a member for dead while it was starting.
    if (!members.some((member) => member.name === name && member.epoch === epoch)) onLeft();
    known = lead?.process;
    return known !== undefined && isAlive(known);
  };
}
