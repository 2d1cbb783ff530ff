import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { getAutoBackgroundMs } from "../engine/subagents/background.ts";
import { systemPrompt } from "../engine/system-prompt.ts";
import type { MemoryStore } from "../memory/auto-memory/memory-store.ts";
import type { OnProblem } from "../memory/session-file.ts";
import { exists } from "../platform/files.ts";
import type { AgentEvent, AgentInput, Pending } from "../protocol/agent.ts";
import { UserError } from "../protocol/errors.ts";
import type { FireHook } from "../protocol/hook.ts";
import type { TextBlock, UserMessage } from "../protocol/message.ts";
import type { AskHuman, PermissionMode } from "../protocol/permission.ts";
import type { SessionHeader } from "../protocol/session.ts";
import type { MayShow, Tool } from "../protocol/tool.ts";
import type { ShellState } from "../tools/bash/shell-state.ts";
import { type AskUser, askUserTool } from "../tools/builtin/ask-user.ts";
import { bashTool } from "../tools/builtin/bash.ts";
import type { ApprovePlan } from "../tools/builtin/exit-plan-mode.ts";
import { readFileTool } from "../tools/builtin/read-file.ts";
import { taskStopTool } from "../tools/builtin/task-stop.ts";
import { FileState } from "../tools/file-state.ts";
import type { AgentMcp, SessionMcp } from "./agent-mcp.ts";
import { openMemories } from "./agent-memory.ts";
import { customAgents, customAgentsReminder } from "./agent-places.ts";
import { agentsFolder } from "./agents-folder.ts";
import type { AgentsHost } from "./agents-host.ts";
import { joinReminders } from "./join-reminders.ts";
import type { Learner, TurnLearner } from "./learner.ts";
import { type McpOptions, startMcp } from "./mcp.ts";
import { type OpenedAgent, openAgent } from "./open-agent.ts";
import { openHooks } from "./open-hooks.ts";
import type { Permissions } from "./permissions.ts";
import { PersonCommands } from "./person-commands.ts";
import { PlanMode } from "./plan-mode.ts";
import type { TeamScreen } from "./run-team.ts";
import { SessionAgents } from "./session-agents.ts";
import { openSkills } from "./skill-places.ts";
import type { Skills } from "./skills.ts";
import { discoverNamed, subagentTools } from "./subagent-tools.ts";
import type { Surroundings } from "./surroundings.ts";
import { workTools } from "./toolset.ts";

export type SessionOptions = {
  maxTurns: number;
  /** Id of a session of this project to go on with, or its beginning, or "latest". */
  resume?: string | undefined;
  /** Files with MCP servers beside those of the user's settings. */
  mcpConfig?: readonly string[] | undefined;
  /** What the person typed since the last round. */
  steering?: () => string | undefined;
  /** The permissions are those of the agent that asks: the main one or a sub-agent. */
  askHuman?: (permissions: Pick<Permissions, "alwaysRule">, ...question: Parameters<AskHuman>) => ReturnType<AskHuman>;
  askUser: AskUser;
  /** Puts a server's questions to the person; they are declined without it. */
  elicit?: McpOptions["elicit"];
  /** Absent when nobody can approve a plan. */
  approvePlan?: ApprovePlan;
  /** Of a new session: it has no tools for code, only agents that have. */
  isCoordinator?: boolean;
  /** Steps of sub-agents, as they happen. */
  onSubagentEvent?: AgentsHost["onEvent"];
  /** Where a team that the agent starts shows, and who answers it; without it the agent can't start one. */
  teamScreen?: (team: string) => TeamScreen;
  /** A sub-agent in the background has ended: its result goes with the next request. */
  onNews?: () => void;
  onProblem?: OnProblem;
  /** Of the whole session: hooks of its start are not waited for any more. */
  interrupt?: AbortSignal;
  /** Memories are taken from the conversation, unless the settings say otherwise; told what was remembered. */
  onRemembered?: (text: string) => void;
};

export type OpenedSession = Omit<OpenedAgent, "model" | "shell"> & {
  id: string;
  /** What was in force when it was opened. */
  surroundings: Surroundings;
  mode(): PermissionMode;
  setMode(mode: PermissionMode): void;
  /** Of the model in use. */
  model(): string;
  /** Commands that calls wait for run on by themselves; gives their number. */
  toBackground(): number;
  jobs: Pick<ShellState, "jobs" | "stopJob">;
  /** The person's own command (`!npm test`); the next message brings it and its output to the agent. */
  runCommand(command: string, signal: AbortSignal): AsyncIterable<AgentEvent>;
  /** Absent without a server. */
  mcp: SessionMcp | undefined;
  subagents: Pick<SessionAgents, "running" | "hasNews" | "news" | "toBackground">;
  /** A run that is over when what it started in the background is. */
  runToEnd(input: AgentInput, signal: AbortSignal): AsyncIterable<AgentEvent>;
  memories(): Promise<MemoryStore>;
  /** Takes memories from the turns that it is told of; undefined where that is off. */
  learner: Learner | undefined;
  /** The first message of a conversation carries the instruction files and the memories. Throws PromptRefused where a hook refuses the words.
   * `called`: what a skill or a command that the person typed adds to them. */
  message(text: string, signal?: AbortSignal, called?: (skills: Skills) => Promise<TextBlock[]>): Promise<UserMessage>;
  skills: Skills;
};

/** These words do not go to the model: a hook of the person's settings refuses them, or they are a command that is none. */
export class PromptRefused extends UserError {}

const MAIN_AGENT = "main";
/** Beyond what a server may take: nothing here may wait for ever. */
const MAX_WAIT_MS = 60_000;
const COORDINATOR = "coordinator";

/** A plain session of the main agent in this folder, new or gone on with. */
export async function openSession(surroundings: Surroundings, options: SessionOptions): Promise<OpenedSession> {
  const { settings, flags, data, projectRoot, cwd, root } = surroundings;
  const folder = data.sessions(projectRoot);
  const old = options.resume === undefined ? undefined : await findOld(folder, options.resume);
  const id = old?.id ?? randomUUID();
  const moved = old && (await movedTo(cwd, old, options.askHuman !== undefined));
  const isCoordinator = old ? old.agent === COORDINATOR : options.isCoordinator === true;
  if (old && options.isCoordinator && !isCoordinator)
    throw new UserError(`The session ${old.id} began without --coordinator, and a session keeps its tools. Start a new one with it.`);
  const sessionPath = join(folder, `${id}.jsonl`);
  const planFile = join(folder, `${id}.plan.md`);
  let mode = flags.permissionMode ?? settings.permissionMode ?? "default";
  let isPlanningKept = false;
  const setMode = (next: PermissionMode) => {
    mode = next;
    keepPlanning();
  };
  /** A session that goes on later plans on; no other mode is taken along. */
  const keepPlanning = () => {
    if ((mode === "plan") === isPlanningKept) return;
    isPlanningKept = !isPlanningKept;
    opened.session.write({ type: "mode", at: new Date().toISOString(), mode });
  };
  const planMode = new PlanMode({ file: planFile, mode: () => mode, setMode, approve: options.approvePlan ?? (async () => undefined) });
  const isAccepted = (item: string) => opened.permissions.isAccepted(item);
  const skills = openSkills(surroundings, isAccepted);
  const note = options.onProblem ?? ((text: string) => void process.stderr.write(`${text}\n`));
  const { mcp, notes: mcpNotes } = await startMcp(surroundings, {
    configFiles: options.mcpConfig ?? [],
    onNotice: note,
    elicit: options.elicit,
  });
  await mcp?.ready(AbortSignal.timeout(MAX_WAIT_MS));
  let servers: AgentMcp | undefined;
  const hooks = await openHooks(surroundings, note);
  const refusal = async (prompt: string, signal = new AbortController().signal): Promise<string | undefined> => {
    const said = await opened.fireHook?.({ event: "user_prompt_submit", prompt }, signal);
    return said?.block ?? said?.halt;
  };
  // Where nobody can be asked, nobody is waited for.
  const askUser = hooks && options.askHuman ? notifying(options.askUser, () => opened.fireHook) : options.askUser;
  let loadSkill: Tool | undefined;
  const { askHuman, teamScreen } = options;
  const asking =
    askHuman &&
    ((permissions: () => Permissions): AskHuman =>
      (...question) =>
        askHuman(permissions(), ...question));
  const scope = { planFile, ...skills.scope, ...(mcp ? { foreignTools: mcp.foreignTools } : {}) };
  const read = new FileState();
  const agents = new SessionAgents({
    surroundings,
    folder: agentsFolder(sessionPath),
    root,
    cwd: () => opened.shell.cwd,
    mode: () => mode,
    parent: () => opened,
    files: read,
    tools: subagentTools(surroundings, isAccepted, { mcp, more: () => agents.taskTools() }),
    toolReminder: () => mcp?.reminder(),
    isCoordinator,
    isSynchronous: false,
    autoBackgroundMs: getAutoBackgroundMs(surroundings.env),
    scope,
    askHuman: asking,
    checkpoints: { open: () => opened.checkpoints(), turn: () => opened.agent.turns },
    onEvent: options.onSubagentEvent,
    ...(teamScreen && !isCoordinator
      ? {
          openTeams: async (known) => {
            const { SessionTeams } = await import("./session-teams.ts");
            const left = () => (flags.maxCost === undefined ? undefined : flags.maxCost - (opened.spending.cost - spentBefore));
            return new SessionTeams({ surroundings, mode: () => mode, parent: () => opened, session: id, screen: teamScreen, left }, known);
          },
        }
      : {}),
    onNews: () => options.onNews?.(),
    onNote: note,
    hooks,
  });
  const role = isCoordinator ? await (await import("./built-in-agent.ts")).builtInPrompt("session-coordinator") : undefined;
  let mayAttach: MayShow | undefined;
  let personBash: Tool | undefined;
  const personCommands = new PersonCommands(() => personBash, cwd);
  const attached = async (text: string, mayShow: MayShow, signal = AbortSignal.timeout(MAX_WAIT_MS)) =>
    (await import("./attached-files.ts")).attachedFiles(text, { cwd, readFile: readFileTool(read), mayShow, signal });
  const opened: OpenedAgent = await openAgent(surroundings, {
    name: isCoordinator ? COORDINATOR : MAIN_AGENT,
    root,
    cwd,
    mode: () => mode,
    maxTurns: options.maxTurns,
    sessionId: id,
    sessionPath,
    system: role === undefined ? systemPrompt : (environment) => systemPrompt(environment, role, ""),
    tools: ({ shell, bash, web, mayShow, addTools, sentTool }) => {
      mayAttach = mayShow;
      personBash = bashTool(shell, bash);
      const own = [...agents.tools(), planMode.tool()];
      const discover = async (names: readonly string[]) => discoverNamed(names, servers);
      const skillTool = skills.tool({ shell, bash, addTools, discover, runApart: agents.runApart, isCoordinator });
      if (isCoordinator) return [askUserTool(askUser), taskStopTool(shell, agents.stop), ...own];
      loadSkill = skillTool;
      servers = mcp?.agent({ addTools, sent: sentTool });
      const work = workTools({ web, shell, bash, files: read, mayShow, askUser, stopOther: agents.stop, settings: settings.tools ?? {} });
      return [...work, ...own, skillTool, ...(servers?.tools ?? [])];
    },
    resolve: async (call, signal) => (await servers?.resolve(call, signal)) ?? skills.resolve(call, opened.tools.sent),
    onRewind: () => servers?.wentBack(),
    onRunEnd: () => skills.turnEnded(),
    pending: async (): Promise<Pending | undefined> => {
      const steering = options.steering?.();
      const reminder = [planMode.next(), servers?.news(opened.agent.history)].filter((one) => one !== undefined).join("\n");
      const refused = steering === undefined ? undefined : await refusal(steering);
      if (refused !== undefined) note(`A hook refused what you typed meanwhile: ${refused}`);
      const said = steering === undefined || refused !== undefined ? {} : { steering };
      return reminder === "" && said.steering === undefined ? undefined : { reminder, mail: [], ...said };
    },
    preserve: async () => [
      ...planMode.now(),
      ...agents.reminders(),
      ...(await customTypes()),
      ...(servers?.all() ?? []),
      ...(loadSkill ? await skills.news([]) : []),
    ],
    news: () => joinReminders(agents.news(), skills.takeReminder()),
    isUndoable: true,
    ...(hooks ? { hooks: { hooks, agentType: isCoordinator ? COORDINATOR : MAIN_AGENT, interrupt: options.interrupt } } : {}),
    scope,
    askHuman: asking?.(() => opened.permissions),
    onProblem: options.onProblem,
  }).catch(async (error: unknown) => {
    await Promise.all([mcp?.[Symbol.asyncDispose](), hooks?.[Symbol.asyncDispose]()]);
    throw error;
  });
  // The cap is for what this process spends.
  const spentBefore = opened.spending.cost;
  if (opened.wasPlanning) isPlanningKept = true;
  if (opened.wasPlanning && flags.permissionMode === undefined) mode = "plan";
  const close = async () => {
    servers?.[Symbol.dispose]();
    // What they have open is the session's.
    await agents[Symbol.asyncDispose]();
    await Promise.all([opened[Symbol.asyncDispose](), mcp?.[Symbol.asyncDispose]()]);
    await hooks?.[Symbol.asyncDispose]();
  };
  const begin = async () => {
    const told = old ? await agents.goOn() : [];
    await opened.start();
    return told;
  };
  const left = await begin().catch(async (error: unknown) => {
    await close();
    throw error;
  });
  let toldTypes: string | undefined;
  /** Kinds of agents beside the built-in ones, when they are others than the conversation knows; files may come while it goes on. */
  const newTypes = async (): Promise<string[]> => {
    const [now] = await customTypes();
    if (now === undefined || now === toldTypes) return [];
    toldTypes = now;
    return [now];
  };
  const customTypes = async (): Promise<string[]> => {
    const found = await customAgents(surroundings, opened.permissions.isAccepted);
    const text = found && customAgentsReminder(found);
    return text === undefined ? [] : [text];
  };
  // Behind what a session that began without servers sends already.
  if (servers) opened.tools.add(servers.tools);
  if (loadSkill) opened.tools.add([loadSkill]);
  let opening = opened.isNew ? await opened.memory.opening() : undefined;
  const { onRemembered } = options;
  const learner =
    onRemembered && settings.autoMemory !== false ? await openLearner(surroundings, opened.spending, onRemembered) : undefined;
  let isFirst = true;
  let { model } = opened;
  return {
    ...opened,
    id,
    surroundings,
    mode: () => mode,
    setMode,
    model: () => model,
    useModel(name) {
      const next = opened.useModel(name);
      model = next.name;
      return next;
    },
    toBackground: () => opened.shell.toBackground(),
    jobs: opened.shell,
    runCommand: (command, signal) => personCommands.run(command, signal),
    mcp,
    subagents: agents,
    runToEnd: (input, signal) => agents.untilDone(opened.agent, input, signal),
    memories: () => openMemories(surroundings),
    learner,
    notes: [...surroundings.warnings, ...(moved ? [moved.note] : []), ...(opening?.notes ?? []), ...opened.notes, ...left, ...mcpNotes],
    skills,
    async message(text, signal, called) {
      const refused = await refusal(text, signal);
      if (refused !== undefined) throw new PromptRefused(`A hook refused this prompt: ${refused}`);
      skills.turnEnded();
      // Also after a step back to the very beginning.
      if (opened.agent.history.length === 0) opening ??= await opened.memory.opening();
      const start = opened.agent.history.length === 0 ? (opening?.blocks ?? []) : [];
      const prompt = text.startsWith("/mcp__") && mcp ? await mcpPrompt(mcp, text, signal) : undefined;
      const resources = text.includes("@") ? ((await mcp?.mentions(text, signal ?? AbortSignal.timeout(MAX_WAIT_MS))) ?? []) : [];
      const files = text.includes("@") && mayAttach ? await attached(text, mayAttach, signal) : [];
      const news = [servers?.news(opened.agent.history), ...(loadSkill ? await skills.news(opened.agent.history) : [])];
      const listed = news.flatMap((one) => (one === undefined ? [] : [textBlock(one)]));
      const behind = (await called?.(skills)) ?? [];
      const place = isFirst && moved ? [textBlock(moved.reminder)] : [];
      isFirst = false;
      keepPlanning();
      const notice = planMode.next();
      const reminders = [...(await newTypes()), ...(notice === undefined ? [] : [notice])].map(textBlock);
      const said = prompt ?? [textBlock(text)];
      return {
        role: "user",
        content: [...start, ...listed, ...said, ...files, ...resources, ...behind, ...place, ...personCommands.take(), ...reminders],
      };
    },
    async [Symbol.asyncDispose]() {
      learner?.stop();
      await close();
    },
  };
}

/** `/mcp__server__prompt words`: what a server has written for it stands in its place. */
async function mcpPrompt(mcp: SessionMcp, text: string, signal = AbortSignal.timeout(MAX_WAIT_MS)): Promise<UserMessage["content"]> {
  const [, name = "", words = ""] = /^\/(\S+)\s*([\s\S]*)$/.exec(text) ?? [];
  const content = await mcp.expandPrompt(name, words, signal).catch((error: unknown) => {
    throw new PromptRefused(`/${name}: ${error instanceof Error ? error.message : String(error)}`);
  });
  if (content) return content;
  const others = mcp.prompts().map((prompt) => `/${prompt.name}`);
  throw new PromptRefused(`There is no prompt /${name}. ${others.length > 0 ? `Prompts: ${others.join(", ")}.` : "No server offers one."}`);
}

function textBlock(text: string): TextBlock {
  return { type: "text", text };
}

/** The same question; hooks hear that a person is waited for. */
function notifying(askUser: AskUser, fireHook: () => FireHook | undefined): AskUser {
  return (question, ...rest) => {
    void fireHook()?.({ event: "notification", kind: "question", message: question }, new AbortController().signal);
    return askUser(question, ...rest);
  };
}

async function openLearner(...given: ConstructorParameters<typeof TurnLearner>): Promise<Learner> {
  const { TurnLearner } = await import("./learner.ts");
  return new TurnLearner(...given);
}

/** Checked before anything is written: what is no session stays as it is. */
async function findOld(folder: string, wanted: string): Promise<SessionHeader> {
  const [{ findSession, latestSession }, { requireHeader }] = await Promise.all([
    import("../memory/find-session.ts"),
    import("../memory/load-session.ts"),
  ]);
  const id = wanted === "latest" ? latestSession(folder) : findSession(folder, wanted);
  return { ...requireHeader(join(folder, `${id}.jsonl`)), id };
}

/** The conversation speaks of the folder that it began in. Where that is gone, only a person can say that it shall go on here. */
async function movedTo(cwd: string, old: SessionHeader, isInteractive: boolean): Promise<{ note: string; reminder: string } | undefined> {
  if (old.cwd === cwd) return undefined;
  const isGone = !(await exists(old.cwd));
  if (isGone && !isInteractive)
    throw new UserError(
      `The folder of this session is gone: ${old.cwd}. Go on here with a copy: roocode -p --resume ${old.id} --fork-session`,
    );
  const why = isGone ? `The folder of this session is gone: ${old.cwd}.` : `This session began in ${old.cwd}.`;
  return {
    note: `${why} It goes on in ${cwd}.`,
    reminder: `<system-reminder>${why} You work in ${cwd} from here on.</system-reminder>`,
  };
}
