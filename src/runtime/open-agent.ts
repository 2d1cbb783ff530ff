import { existsSync } from "node:fs";
import { type SelectedModel, selectModel } from "../engine/providers/select.ts";
import { withRetry } from "../engine/retry.ts";
import type { RunToolOptions } from "../engine/run-tool.ts";
import type { Environment } from "../engine/system-prompt.ts";
import type { Checkpoints } from "../memory/checkpoints/checkpoints.ts";
import type { LoadedSession } from "../memory/load-session.ts";
import { createSession, type OnProblem, openSession as openSessionFile, type SessionFile } from "../memory/session-file.ts";
import { readHeader } from "../memory/session-head.ts";
import { lockSession, type SessionLock } from "../memory/session-lock.ts";
import { commandEnvironment } from "../platform/command-environment.ts";
import type { Pending } from "../protocol/agent.ts";
import type { FireHook } from "../protocol/hook.ts";
import type { Message } from "../protocol/message.ts";
import { addSpent, type Spent, type ToolSpec } from "../protocol/model.ts";
import type { AskHuman, PermissionMode } from "../protocol/permission.ts";
import type { MayShow, Tool } from "../protocol/tool.ts";
import { secretMasker } from "../safety/secrets.ts";
import type { BashOptions } from "../tools/bash/bash-options.ts";
import { ShellState } from "../tools/bash/shell-state.ts";
import type { WebOptions } from "../tools/web/fetch-for-model.ts";
import type { AgentHooksRequest } from "./agent-hooks.ts";
import { type AgentMemory, agentMemory, type MemoryScope } from "./agent-memory.ts";
import { AgentTools } from "./agent-tools.ts";
import { agentsFolder } from "./agents-folder.ts";
import { openContainment } from "./containment.ts";
import { createAgent, type ModelInUse, type SessionAgent } from "./create-agent.ts";
import { costCap, requireKnownPrice } from "./max-cost.ts";
import { historyMender } from "./mend-history.ts";
import { openCheckpoints } from "./open-checkpoints.ts";
import { openCompactor } from "./open-compactor.ts";
import { createPermissions, type PermissionScope, type Permissions } from "./permissions.ts";
import { sharedWait } from "./shared-wait.ts";
import { Spending } from "./spending.ts";
import { environmentOf, type Surroundings } from "./surroundings.ts";
import { wantsLocal } from "./wanted-model.ts";

export type ToolParts = {
  shell: ShellState;
  bash: BashOptions;
  web: WebOptions;
  mail: ReadonlySet<string>;
  mayShow: MayShow;
  /** For a tool that brings others: they may be called at once, and stand at the end of the next request's. */
  addTools: AgentTools["add"];
  /** A tool as the requests name it. */
  sentTool: (name: string) => ToolSpec | undefined;
};

export type AgentRequest = {
  name: string;
  /** File tools may touch what lies in here. */
  root: string;
  cwd: string;
  mode: () => PermissionMode;
  maxTurns: number;
  model?: string | undefined;
  sessionId: string;
  /** A session that is there goes on, with its system prompt and tools; else it begins here. */
  sessionPath: string;
  system: (environment: Environment) => string;
  tools: (parts: ToolParts) => readonly Tool[];
  /** For calls of tools that are not among these yet, or that stand for others. */
  resolve?: RunToolOptions["resolve"];
  pending?: () => Promise<Pending | undefined>;
  /** After each run, however it ended. */
  onRunEnd?: () => void;
  /** A sentence once no more may be spent; asked before each model call. */
  overBudget?: () => Promise<string | undefined>;
  /** Reminders that a compaction puts into the new history, as they are then. */
  preserve?: () => Promise<string[]>;
  /** The conversation goes on from an earlier place. */
  onRewind?: () => void;
  /** What its steps do to files can be undone: by its own checkpoints, or as part of another conversation's turn. */
  isUndoable?: boolean;
  checkpointsOf?: { open: () => Promise<Checkpoints>; turn: () => number } | undefined;
  /** Shared with other conversations; else one that goes on from what the session holds. */
  spending?: Spending;
  /** Of a sub-agent: what it spends counts there too. */
  spendingOf?: Spending;
  /** A new conversation that begins as another one stands. */
  begin?: Beginning | undefined;
  /** Id of the conversation whose cache it can use; else its own. */
  cacheKey?: string | undefined;
  /** For the model, with its next request: what ended in the background, beside commands. */
  news?: () => string | undefined;
  /** Which memories it begins with; all unless given. */
  memoryScope?: MemoryScope | undefined;
  askHuman?: AskHuman | undefined;
  scope?: PermissionScope;
  /** A folder in which the agents of a team leave word that a provider wants no request for a while. */
  waits?: string | undefined;
  /** It merges what others made, settings of the project too, in a checkout that is nobody's policy. */
  isMerging?: boolean;
  /** The process's hooks, and in whose name they are fired for this conversation. Of a sub-agent, the prompt that it was started with. */
  hooks?: AgentHooksRequest | undefined;
  /** Added to what commands see, for example an identity for git. */
  shellEnv?: NodeJS.ProcessEnv;
  /** Told of what the person should know, such as commands that run without a sandbox; standard error unless given. */
  onNotice?: (text: string) => void;
  /** Told when the session can't be saved, and what of it was not; standard error unless given. */
  onProblem?: OnProblem | undefined;
};

/** What is sent is the same up to the end of `history`, whose last message is the user's. */
export type Beginning = { system: string; tools: readonly ToolSpec[]; history: readonly Message[] };

export type OpenedAgent = AsyncDisposable & {
  /** Hooks hear that it begins, and may start sub-agents of it: called once, when it can be reached. */
  start(): Promise<void>;
  agent: SessionAgent;
  session: SessionFile;
  shell: ShellState;
  /** Puts a command into the agent's OS sandbox; absent where there is none. */
  contain: BashOptions["contain"];
  spending: Spending;
  /** Id of the model that it was opened with. */
  model: string;
  /** In its full name the one in use. */
  modelName(): string;
  system: string;
  /** A sentence once no more may be spent. */
  overBudget: () => Promise<string | undefined>;
  /** Another model goes on with the conversation; gives its full name, or throws UserError. */
  useModel(name: string): { name: string; notice: string | undefined };
  checkpoints(): Promise<Checkpoints>;
  tools: AgentTools;
  permissions: Permissions;
  /** In this agent's name; what hooks say to the model goes into its next message. Undefined without hooks. */
  fireHook: FireHook | undefined;
  memory: AgentMemory;
  /** Large results that its conversation names lie here. */
  resultFolders: readonly string[];
  /** Ids of the mail that the conversation holds. */
  mail: ReadonlySet<string>;
  isNew: boolean;
  /** It goes on from where it was planning. */
  wasPlanning: boolean;
  notes: string[];
};

/** The same steps for the main agent, the lead, a teammate and the integrator: model, session, permissions, tools, loop. */
export async function openAgent(given: Surroundings, request: AgentRequest): Promise<OpenedAgent> {
  const surroundings = wantsLocal(given) ? await (await import("./local-model.ts")).withLocalModel(given) : given;
  const lock = lockSession(request.sessionPath);
  try {
    return await openLocked(surroundings, request, lock);
  } catch (error) {
    lock[Symbol.dispose]();
    throw error;
  }
}

async function openLocked(surroundings: Surroundings, request: AgentRequest, lock: SessionLock): Promise<OpenedAgent> {
  const { settings, env } = surroundings;
  const { sessionPath, sessionId: id, onProblem } = request;
  const old = readHeader(sessionPath) ? await openSessionFile(sessionPath, onProblem) : undefined;
  const choose = (name: string | undefined) =>
    selectModel({ providers: settings.providers ?? [], model: name, env, cacheKey: request.cacheKey ?? id });
  const fallback = fallbackOf(surroundings, choose);
  const earlier = lastModel(old?.loaded, fallback?.model);
  const selected = choose(surroundings.flags.model ?? request.model ?? earlier ?? env.ROOCODE_MODEL ?? settings.model);

  const spending = request.spending ?? new Spending(old && (await withSubagents(old.loaded, sessionPath)), request.spendingOf);
  // Before the file is made: what is refused begins no session.
  const overBudget = request.overBudget ?? costCap(surroundings.flags.maxCost, spending, selected);

  const spillFolder = sessionPath.replace(/\.jsonl$/, ".results");
  const shell = new ShellState(request.cwd);
  const tell = onProblem ?? ((text: string) => void process.stderr.write(`${text}\n`));
  const containment = openContainment(settings.sandbox, request.onNotice ?? tell, async () => ({
    root: request.root,
    writable: [...permissions.addDirs, ...(request.scope?.extraRoots ?? [])],
    home: surroundings.home,
    dataFolder: surroundings.data.root,
    readable: [spillFolder, surroundings.projectRoot, ...(request.scope?.readRoots ?? [])],
    keepsPolicy: !request.isMerging,
  }));
  const hooks = request.hooks && new (await import("./agent-hooks.ts")).AgentHooks(request.hooks, { request, shell, note: tell });
  // A result that went to disk is read from there.
  const resultFolders = [spillFolder, ...(await inherited(sessionPath, old?.loaded.header.parent))];
  const permissions: Permissions = await createPermissions(surroundings, {
    agent: request.name,
    session: id,
    root: request.root,
    cwd: () => shell.cwd,
    mode: request.mode,
    askHuman: hooks ? hooks.notifying(request.askHuman) : request.askHuman,
    beforeAsk: hooks?.beforeAsk,
    contains: containment?.contains,
    ...request.scope,
    extraRoots: [...resultFolders, ...(request.scope?.extraRoots ?? [])],
  });
  // Before the session is made: what is refused begins none.
  if (settings.sandbox?.mode === "required") await containment?.require();
  const bash: BashOptions = {
    outputFolder: spillFolder,
    env: commandEnvironment(env, request.shellEnv),
    secretMasker,
    ...(containment ? { contain: containment.contain } : {}),
    ...(settings.tools?.bashTimeout ? { defaultTimeoutMs: settings.tools.bashTimeout } : {}),
  };
  const mail = old?.loaded.mail ?? new Set<string>();
  const memory = agentMemory(surroundings, request.root, permissions.isTrusted, request.memoryScope);
  const web = { mayBePrivate: permissions.namesHost };
  const addTools: AgentTools["add"] = (...more) => tools.add(...more);
  const sentTool = (name: string) => tools.sent.find((spec) => spec.name === name);
  const { begin } = request;
  const tools: AgentTools = new AgentTools({
    tools: memory.watched(request.tools({ shell, bash, web, mail, mayShow: permissions.mayShow, addTools, sentTool })),
    sent: old?.loaded.tools ?? begin?.tools,
    onAdd: (specs) => session.write({ type: "tools_added", at: new Date().toISOString(), tools: [...specs] }),
  });
  const system = old?.loaded.header.system ?? begin?.system ?? request.system(environmentOf({ ...surroundings, cwd: request.cwd }));
  const session: SessionFile =
    old?.session ??
    createSession(
      sessionPath,
      {
        type: "header",
        version: 1,
        id,
        cwd: request.cwd,
        at: new Date().toISOString(),
        agent: request.name,
        model: `${selected.provider}/${selected.model}`,
        system,
        tools: [...tools.sent],
      },
      // Said already, with its mend.
      surroundings.isDataReadOnly ? () => undefined : onProblem,
    );
  if (!old && begin) await session.append({ type: "rewind", at: new Date().toISOString(), history: [...begin.history] });
  const { waits } = request;
  const inUse = (one: SelectedModel): ModelInUse => {
    // Where a person sits, an hour's limit is waited for in sight of them.
    const client = withRetry(one.client, {
      longWaits: request.askHuman !== undefined,
      ...(waits === undefined ? {} : { shared: sharedWait(waits, one.provider) }),
      ...(fallback ? { fallback } : {}),
    });
    const preserve = async () => [...(await memory.instructionReminders()), ...((await request.preserve?.()) ?? [])];
    const compactor = openCompactor(one, client, { system, toolSpecs: tools.sent, cwd: () => shell.cwd, permissions, preserve });
    return {
      client,
      id: one.model,
      maxTokens: one.maxOutputTokens,
      hasVision: one.hasVision,
      compactor: hooks ? hooks.around(compactor) : compactor,
      pricesOf: (model) => (model === fallback?.model ? fallback.prices : model === one.model ? one.prices : undefined),
    };
  };
  const open = () => openCheckpoints(surroundings, { session, earlier: old?.loaded.checkpoints ?? [], onProblem: tell });
  let opening: Promise<Checkpoints> | undefined;
  const checkpoints = () => {
    opening ??= open();
    return opening;
  };
  const agent = createAgent(
    {
      name: request.name,
      system,
      tools: [...tools.callable.values()],
      model: selected.model,
      cwd: request.cwd,
      mode: request.mode(),
      maxTurns: request.maxTurns,
      history: old?.loaded.history ?? begin?.history ?? [],
      pending: memory.pending(request.pending),
    },
    {
      model: inUse(selected),
      spending,
      overBudget,
      mend: historyMender(session, env.ROOCODE_STRICT === "1"),
      checkpoints: request.checkpointsOf?.open ?? (request.isUndoable ? checkpoints : undefined),
      checkpointTurn: request.checkpointsOf?.turn,
      turns: old?.loaded.turns ?? 0,
      onRewind: () => {
        memory.wentBack();
        request.onRewind?.();
      },
      hooks,
      shell: withNews(shell, request.news),
      authorize: permissions.authorize,
      session,
      spillFolder,
      tools,
      resolve: request.resolve,
      onRunEnd: request.onRunEnd,
    },
  );
  let modelName = `${selected.provider}/${selected.model}`;
  return {
    start: async () => hooks?.start(old !== undefined),
    agent,
    session,
    shell,
    contain: bash.contain,
    spending,
    model: selected.model,
    modelName: () => modelName,
    system,
    overBudget,
    useModel(name) {
      const next = choose(name);
      agent.useModel(inUse(next));
      modelName = `${next.provider}/${next.model}`;
      return { name: modelName, notice: next.notice };
    },
    checkpoints,
    tools,
    permissions,
    fireHook: hooks?.fire,
    memory,
    resultFolders,
    mail,
    isNew: old === undefined || old.loaded.history.length === 0,
    wasPlanning: old?.loaded.isPlanning ?? false,
    notes: [...(selected.notice ? [selected.notice] : []), ...permissions.warnings, ...(old?.loaded.notes ?? [])],
    async [Symbol.asyncDispose]() {
      await hooks?.end(agent.turns);
      await shell[Symbol.asyncDispose]();
      await containment?.[Symbol.asyncDispose]();
      session.close();
      lock[Symbol.dispose]();
    },
  };
}

/** What its commands and others have to tell, in one text. */
function withNews(shell: ShellState, others: (() => string | undefined) | undefined): Pick<ShellState, "settle" | "news"> {
  if (!others) return shell;
  return {
    settle: () => shell.settle(),
    news: () => [shell.news(), others()].filter((text) => text !== undefined).join("\n") || undefined,
  };
}

/** What a conversation took that goes on, with its sub-agents. */
async function withSubagents(loaded: LoadedSession, sessionPath: string): Promise<Spent> {
  const folder = agentsFolder(sessionPath);
  if (!existsSync(folder)) return loaded;
  const { subagentsSpent } = await import("./subagent-records.ts");
  return addSpent(loaded, await subagentsSpent(folder));
}

/** Its requests go elsewhere when the model does not answer; the settings or a flag name it. */
function fallbackOf({ flags, settings }: Surroundings, choose: (name: string) => SelectedModel): SelectedModel | undefined {
  const name = flags.fallbackModel ?? settings.fallbackModel;
  if (name === undefined) return undefined;
  const fallback = choose(name);
  if (flags.maxCost !== undefined) requireKnownPrice(fallback);
  return fallback;
}

/** A fork's conversation names large results that lie with its parents. */
async function inherited(sessionPath: string, parent: string | undefined): Promise<string[]> {
  if (parent === undefined) return [];
  const { inheritedResults } = await import("../memory/session-fork.ts");
  return inheritedResults(sessionPath);
}

/** The model that wrote the last answer: one that the person chose goes on, one that only stood in does not. */
function lastModel(loaded: LoadedSession | undefined, fallback: string | undefined): string | undefined {
  const last = loaded?.history.findLast((message) => message.role === "assistant" && message.provider !== "" && message.model !== fallback);
  return last?.role === "assistant" ? `${last.provider}/${last.model}` : loaded?.header.model;
}
