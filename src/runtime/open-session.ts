import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { systemPrompt } from "../engine/system-prompt.ts";
import type { MemoryStore } from "../memory/auto-memory/memory-store.ts";
import type { OnProblem } from "../memory/session-file.ts";
import { exists } from "../platform/files.ts";
import { UserError } from "../protocol/errors.ts";
import type { FireHook } from "../protocol/hook.ts";
import type { TextBlock, UserMessage } from "../protocol/message.ts";
import type { AskHuman, PermissionMode } from "../protocol/permission.ts";
import type { SessionHeader } from "../protocol/session.ts";
import type { Tool } from "../protocol/tool.ts";
import type { ShellState } from "../tools/bash/shell-state.ts";
import type { AskUser } from "../tools/builtin/ask-user.ts";
import { openMemories } from "./agent-memory.ts";
import type { ToolLoading } from "./deferred-tools.ts";
import type { Learner, TurnLearner } from "./learner.ts";
import { type SessionMcp, startMcp } from "./mcp.ts";
import { type OpenedAgent, openAgent } from "./open-agent.ts";
import { openHooks } from "./open-hooks.ts";
import { PlanModeNotice } from "./plan-mode.ts";
import { untrustedSkill } from "./project-items.ts";
import { commandPlaces, skillPlaces } from "./skill-places.ts";
import { Skills } from "./skills.ts";
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
  askHuman?: AskHuman;
  askUser: AskUser;
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
  mcpServers: SessionMcp["status"];
  memories(): Promise<MemoryStore>;
  /** Takes memories from the turns that it is told of; undefined where that is off. */
  learner: Learner | undefined;
  /** The first message of a conversation carries the instruction files and the memories. Throws PromptRefused where a hook refuses the words.
   * `called`: what a skill or a command that the person typed adds to them. */
  message(text: string, signal?: AbortSignal, called?: (skills: Skills) => Promise<TextBlock[]>): Promise<UserMessage>;
  skills: Skills;
};

/** A hook of the person's settings does not let these words go to the model. */
export class PromptRefused extends UserError {}

const MAIN_AGENT = "main";

/** A plain session of the main agent in this folder, new or gone on with. */
export async function openSession(surroundings: Surroundings, options: SessionOptions): Promise<OpenedSession> {
  const { settings, flags, data, projectRoot, cwd, root } = surroundings;
  const folder = data.sessions(projectRoot);
  const old = options.resume === undefined ? undefined : await findOld(folder, options.resume);
  const id = old?.id ?? randomUUID();
  const moved = old && (await movedTo(cwd, old, options.askHuman !== undefined));
  let mode = flags.permissionMode ?? settings.permissionMode ?? "default";
  const planMode = new PlanModeNotice();
  const places = skillPlaces(surroundings);
  const skills = new Skills(places, commandPlaces(surroundings), (source) =>
    untrustedSkill(projectRoot, opened.permissions.isAccepted, source),
  );
  // Before the first request: tools that come later would change what every request begins with.
  const mcp = await startMcp(surroundings, options.mcpConfig ?? []);
  const note = options.onProblem ?? ((text: string) => void process.stderr.write(`${text}\n`));
  const hooks = await openHooks(surroundings, note);
  const refusal = async (prompt: string, signal = new AbortController().signal): Promise<string | undefined> => {
    const said = await opened.fireHook?.({ event: "user_prompt_submit", prompt }, signal);
    return said?.block ?? said?.halt;
  };
  // Where nobody can be asked, nobody is waited for.
  const askUser = hooks && options.askHuman ? notifying(options.askUser, () => opened.fireHook) : options.askUser;
  let loading: ToolLoading | undefined;
  let loadSkill: Tool | undefined;
  const opened: OpenedAgent = await openAgent(surroundings, {
    name: MAIN_AGENT,
    root,
    cwd,
    mode: () => mode,
    maxTurns: options.maxTurns,
    sessionId: id,
    sessionPath: join(folder, `${id}.jsonl`),
    system: systemPrompt,
    tools: ({ shell, bash, web, mayShow, addTools }) => {
      loading = mcp.loading?.(addTools);
      loadSkill = skills.tool({ shell, bash, addTools, discover: async (wanted) => discoverNamed(wanted, loading) });
      return [...workTools({ web, shell, bash, mayShow, askUser, settings: settings.tools ?? {} }), loadSkill, ...(loading?.tools ?? [])];
    },
    resolve: async (call, signal) => (await loading?.resolve(call, signal)) ?? skills.resolve(call, opened.tools.sent),
    onRunEnd: () => skills.turnEnded(),
    pending: async () => {
      const steering = options.steering?.();
      const reminder = skills.takeReminder();
      const refused = steering === undefined ? undefined : await refusal(steering);
      if (refused !== undefined) note(`A hook refused what you typed meanwhile: ${refused}`);
      if (reminder === undefined && (steering === undefined || refused !== undefined)) return undefined;
      return { reminder: reminder ?? "", mail: [], ...(steering === undefined || refused !== undefined ? {} : { steering }) };
    },
    preserve: async () => [...planMode.now(mode), ...(await skills.news([]))],
    isUndoable: true,
    scope: {
      readRoots: places.filter(({ level }) => level !== "project").map((place) => place.folder),
      allowLists: () => skills.allowLists,
      ...(mcp.foreignTools ? { foreignTools: mcp.foreignTools } : {}),
    },
    ...(hooks ? { hooks: { hooks, agentType: MAIN_AGENT, interrupt: options.interrupt } } : {}),
    askHuman: options.askHuman,
    onProblem: options.onProblem,
  }).catch(async (error: unknown) => {
    await Promise.all([mcp[Symbol.asyncDispose](), hooks?.[Symbol.asyncDispose]()]);
    throw error;
  });
  // Behind what a session that began without servers sends already.
  if (loading) opened.tools.add(loading.tools);
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
    setMode(next) {
      mode = next;
    },
    model: () => model,
    useModel(name) {
      const next = opened.useModel(name);
      model = next.name;
      return next;
    },
    toBackground: () => opened.shell.toBackground(),
    jobs: opened.shell,
    mcpServers: mcp.status,
    memories: () => openMemories(surroundings),
    learner,
    notes: [...surroundings.warnings, ...(moved ? [moved.note] : []), ...(opening?.notes ?? []), ...opened.notes, ...mcp.notes],
    skills,
    async message(text, signal, called) {
      const refused = await refusal(text, signal);
      if (refused !== undefined) throw new PromptRefused(`A hook refused this prompt: ${refused}`);
      skills.turnEnded();
      // Also after a step back to the very beginning.
      if (opened.agent.history.length === 0) opening ??= await opened.memory.opening();
      const start = opened.agent.history.length === 0 ? (opening?.blocks ?? []) : [];
      const listed = (await skills.news(opened.agent.history)).map((news) => ({ type: "text" as const, text: news }));
      const behind = (await called?.(skills)) ?? [];
      const names = isFirst && mcp.reminder ? [{ type: "text" as const, text: mcp.reminder }] : [];
      const place = isFirst && moved ? [{ type: "text" as const, text: moved.reminder }] : [];
      isFirst = false;
      const notice = planMode.next(mode);
      const plan = notice === undefined ? [] : [{ type: "text" as const, text: notice }];
      return { role: "user", content: [...start, ...names, ...listed, { type: "text", text }, ...behind, ...place, ...plan] };
    },
    async [Symbol.asyncDispose]() {
      learner?.stop();
      await Promise.all([opened[Symbol.asyncDispose](), mcp[Symbol.asyncDispose]()]);
      await hooks?.[Symbol.asyncDispose]();
    },
  };
}

/** What a skill names of the servers' tools is there when it begins. */
async function discoverNamed(names: readonly string[], loading: ToolLoading | undefined): Promise<void> {
  for (const name of names) await loading?.resolve({ type: "tool_use", id: "", name, input: {} }, new AbortController().signal);
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
