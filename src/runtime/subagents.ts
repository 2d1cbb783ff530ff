import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AgentCall } from "../engine/subagents/agent-tool.ts";
import { Subagents } from "../engine/subagents/background.ts";
import { type AgentDefinition, loadDefinitions } from "../engine/subagents/definitions.ts";
import { forkedHistory } from "../engine/subagents/fork.ts";
import { endText } from "../engine/subagents/notification.ts";
import type { Subagent, SubagentEnd, SubagentRun } from "../engine/subagents/subagent.ts";
import { UserError } from "../protocol/errors.ts";
import { errorResult, type ToolContext, type ToolResult, textResult } from "../protocol/tool.ts";
import type { AllowList } from "../safety/allow-list.ts";
import type { Skill } from "../tools/skills/skill.ts";
import { toolName } from "../tools/skills/tool-json.ts";
import { agentFolders } from "./agent-places.ts";
import type { AgentsHost } from "./agents-host.ts";
import type { Beginning } from "./open-agent.ts";
import { type First, runSubagent } from "./run-subagent.ts";
import { subagentModel } from "./subagent-model.ts";
import { readRecords, type SubagentRecord, writeRecord } from "./subagent-records.ts";
import { makeWorktree } from "./subagent-worktree.ts";

const DEFAULT_TURNS = 50;
/** Each has a conversation in memory and asks the same server. */
const MAX_RUNNING = 16;
const NAME = /^[\p{L}\p{N}][\p{L}\p{N}_-]{0,31}$/u;
const TAKEN = /^(main|lead|agent-[0-9a-f]+)$/i;

/** Starts the sub-agents of one conversation, and lets them go on. Loaded when the first is started. */
export class SubagentRunner {
  readonly agents: Subagents;
  readonly #host: AgentsHost;
  readonly #records = new Map<string, SubagentRecord>();

  private constructor(host: AgentsHost) {
    this.#host = host;
    this.agents = new Subagents(host.onNews);
  }

  static async open(host: AgentsHost): Promise<SubagentRunner> {
    const runner = new SubagentRunner(host);
    for (const record of await readRecords(host.folder)) {
      runner.#records.set(record.id, record);
      const end: SubagentEnd = record.end ?? { status: "stopped", text: "", notes: ["The process that it ran in has ended"], turns: 0 };
      runner.agents.remember(record, end);
    }
    return runner;
  }

  /** The Agent tool's work. Throws UserError with a reason for the model. */
  async call(call: AgentCall, context: ToolContext): Promise<ToolResult> {
    const host = this.#host;
    const name = this.#checkedName(call.name);
    if (this.agents.running.length >= MAX_RUNNING)
      throw new UserError(`${MAX_RUNNING} sub-agents run already. Wait for one to end, or end one with TaskStop.`);
    const definition = await this.#definition(call.subagent_type);
    if (!definition && host.isSynchronous)
      throw new UserError("Give a subagent_type: a fork works in the background, and here a sub-agent runs only while its caller waits.");
    const isBackground = !host.isSynchronous && (!definition || definition.background || call.run_in_background === true);
    const parent = host.parent();
    const { model, remark } = definition
      ? subagentModel(call.model ?? definition.model, parent.modelName(), host.surroundings)
      : { model: parent.modelName(), remark: call.model === undefined ? undefined : "A fork has your model" };
    // Before anything is waited for: the history is that of this moment.
    const begin: Beginning | undefined = definition
      ? undefined
      : {
          system: parent.system,
          tools: [...parent.tools.sent],
          history: forkedHistory(parent.agent.history, context.callId, call.prompt),
        };
    const id = this.agents.newId();
    const isIsolated = call.isolation === "worktree" || definition?.isolation === "worktree";
    const worktree = isIsolated ? await makeWorktree(host.surroundings, id) : undefined;
    if (worktree) await parent.fireHook?.({ event: "worktree_created", worktree: worktree.path, branch: worktree.branch }, context.signal);
    const record: SubagentRecord = {
      version: 1,
      id,
      ...(name === undefined ? {} : { name }),
      type: definition?.name ?? "fork",
      description: call.description,
      startedAt: new Date().toISOString(),
      model,
      isFork: definition === undefined,
      isBackground,
      maxTurns: definition?.maxTurns ?? DEFAULT_TURNS,
      rules: this.#rulesOf(definition),
      ...(worktree ? { worktree } : {}),
    };
    const first: First = definition && !begin ? { type: "prompt", prompt: call.prompt, definition } : { type: "fork", begin };
    const agent = await this.#start(record, { first, prompt: call.prompt, callId: context.callId });
    const notes = remark === undefined ? [] : [remark];
    return isBackground ? launched(agent, notes) : this.#inFront(agent, notes, context.signal);
  }

  /** Undefined for one that nobody knows. */
  async send(to: string, text: string): Promise<ToolResult | undefined> {
    const agent = this.agents.find(to);
    const record = agent && this.#records.get(agent.id);
    if (!agent || !record) return undefined;
    if (agent.end && !existsSync(this.#sessionPath(agent.id)))
      return errorResult(`${agent.id} ended before it had begun: there is nothing to go on from. Start another one.`);
    if (this.agents.write(agent.id, text)) return textResult(`Delivered. ${agent.id} is at work and reads it with its next round.`);
    const isBackground = !this.#host.isSynchronous;
    const next = { ...record, startedAt: new Date().toISOString(), isBackground };
    const again = await this.#start(next, { first: { type: "message", text }, prompt: text });
    if (isBackground) return launched(again, ["It goes on with all that it knew"]);
    return this.#inFront(again, [], new AbortController().signal);
  }

  /** How it ended, in words; undefined for one that nobody knows. */
  async stop(to: string): Promise<string | undefined> {
    const agent = this.agents.find(to);
    if (!agent) return undefined;
    if (!(await this.agents.stop(agent.id))) return `${agent.id} had ended before: ${agent.end?.status}.`;
    const end = this.agents.find(agent.id)?.end;
    return end ? endText(agent, end) : `${agent.id} is stopped.`;
  }

  /** A skill that works apart: its words are the task, and its list is all that it may use. */
  async runApart(skill: Skill, prompt: string, context: Pick<ToolContext, "callId" | "signal">): Promise<ToolResult> {
    const definition = await this.#definition("general-purpose");
    if (!definition) throw new Error("general-purpose is always there.");
    const host = this.#host;
    const { model, remark } = subagentModel(skill.model ?? definition.model, host.parent().modelName(), host.surroundings);
    const rules = this.#rulesOf(definition);
    const record: SubagentRecord = {
      version: 1,
      id: this.agents.newId(),
      type: definition.name,
      description: `the skill ${skill.name}`,
      startedAt: new Date().toISOString(),
      model,
      isFork: false,
      isBackground: false,
      maxTurns: definition.maxTurns ?? DEFAULT_TURNS,
      rules: skill.allowedTools ? { ...rules, ...listOf(skill, skill.allowedTools, rules.allowLists ?? []) } : rules,
    };
    const agent = await this.#start(record, { first: { type: "prompt", prompt, definition }, prompt, callId: context.callId, skill });
    return this.#inFront(agent, remark === undefined ? [] : [remark], context.signal);
  }

  /** For a hook, which waits for its last words; it shows in the list of tasks. */
  async runForHook({ prompt, description }: { prompt: string; description: string }, signal: AbortSignal): Promise<string> {
    const definition = await this.#definition("general-purpose");
    if (!definition) throw new Error("general-purpose is always there.");
    const record: SubagentRecord = {
      version: 1,
      id: this.agents.newId(),
      type: definition.name,
      description,
      startedAt: new Date().toISOString(),
      model: this.#host.parent().modelName(),
      isFork: false,
      isBackground: true,
      maxTurns: definition.maxTurns ?? DEFAULT_TURNS,
      rules: this.#rulesOf(definition),
    };
    const agent = await this.#start(record, { first: { type: "prompt", prompt, definition }, prompt, isOfHook: true });
    const end = await this.agents.untilEnd(agent, signal);
    if (end.status !== "completed") throw new UserError(`Its sub-agent ${end.status}: ${end.notes.join("; ")}`);
    return end.text;
  }

  async #start(
    record: SubagentRecord,
    { callId = "", isOfHook = false, ...job }: { first: First; prompt: string; callId?: string; isOfHook?: boolean; skill?: Skill },
  ): Promise<Subagent> {
    const host = this.#host;
    this.#records.set(record.id, record);
    // Its record first: whatever is in its session is found again.
    await writeRecord(host.folder, withoutEnd(record));
    const { id, name, type, description } = record;
    return this.agents.start({ id, name, type, description }, record.isBackground, async (run: SubagentRun) => {
      const end = await runSubagent({ ...job, record, callId, isOfHook, sessionPath: this.#sessionPath(id) }, host, run);
      const ended = { ...record, end: { ...end, notes: [...end.notes] } };
      this.#records.set(id, ended);
      await writeRecord(host.folder, ended);
      return end;
    });
  }

  async #inFront(agent: Subagent, notes: readonly string[], signal: AbortSignal): Promise<ToolResult> {
    const end = await this.agents.inFront(agent, this.#host.isSynchronous ? 0 : this.#host.autoBackgroundMs, signal);
    if (end === "background") return launched(agent, ["It goes on in the background", ...notes]);
    const text = endText(agent, { ...end, notes: [...notes, ...end.notes] });
    if (signal.aborted) return errorResult(`Interrupted by the user.\n${text}`);
    return end.status === "completed" ? textResult(text) : errorResult(text);
  }

  /** What skills take away from the one who starts it is taken from it too, for as long as it lives. */
  #rulesOf(definition: AgentDefinition | undefined): SubagentRecord["rules"] {
    const lists = this.#host.scope?.allowLists?.() ?? [];
    return {
      ...rulesOf(definition),
      ...(lists.length > 0 ? { allowLists: lists.map(({ name, tools }) => ({ name, tools: [...tools] })) } : {}),
    };
  }

  #sessionPath(id: string): string {
    return join(this.#host.folder, `${id}.jsonl`);
  }

  /** Undefined for a fork. Read anew at each call. */
  async #definition(type: string | undefined): Promise<AgentDefinition | undefined> {
    const { surroundings, isCoordinator, parent } = this.#host;
    const wanted = type ?? (isCoordinator ? "general-purpose" : "fork");
    if (wanted === "fork" && !isCoordinator) return undefined;
    const { agents, reports } = await loadDefinitions(agentFolders(surroundings, parent().permissions.isAccepted));
    const found = agents.get(wanted.toLowerCase());
    if (found) return found;
    const why = reports.find(({ name, verdict }) => verdict !== "load" && name.toLowerCase() === wanted.toLowerCase())?.reason;
    const names = [...agents.values()].map((definition) => definition.name).join(", ");
    throw new UserError(`There is no agent type "${wanted}".${why ? ` ${why}` : ""} Types: ${names}.`);
  }

  #checkedName(name: string | undefined): string | undefined {
    if (name === undefined) return undefined;
    if (!NAME.test(name) || TAKEN.test(name))
      throw new UserError(`"${name}" can't be a name: 1 to 32 letters, digits, - or _, and not main, lead or an id.`);
    const other = this.agents.find(name);
    if (other && !other.end) throw new UserError(`${name} runs already (${other.id}). Take another name, or write to it with SendMessage.`);
    return name;
  }
}

function rulesOf(definition: AgentDefinition | undefined): SubagentRecord["rules"] {
  if (!definition) return { level: "built-in", disallowedTools: [] };
  const { level, tools, disallowedTools, permissionMode, memory, commands } = definition;
  return {
    level,
    ...(tools ? { tools: [...tools] } : {}),
    disallowedTools: [...disallowedTools],
    ...(permissionMode ? { permissionMode } : {}),
    ...(memory ? { memory } : {}),
    ...(commands ? { commands } : {}),
  };
}

/** The names for the filter of its tools, the whole entries for each call. */
function listOf(
  { name }: Skill,
  allowed: readonly string[],
  others: readonly AllowList[],
): Pick<SubagentRecord["rules"], "tools" | "allowLists"> {
  const own = toolName(name, "*");
  const list = { name: `the skill "${name}"`, tools: [...allowed, own] };
  return {
    tools: [...allowed.map((entry) => entry.replace(/\(.*$/s, "")), own],
    allowLists: [...others, list].map((one) => ({ name: one.name, tools: [...one.tools] })),
  };
}

function withoutEnd({ end: _, ...record }: SubagentRecord): SubagentRecord {
  return record;
}

function launched({ id, name }: Subagent, notes: readonly string[]): ToolResult {
  const answer = JSON.stringify({ status: "async_launched", agentId: id, ...(name === undefined ? {} : { name }) });
  const words = [...notes.map((note) => `${note}.`), "Its result comes as a <task-notification>, by itself."].join(" ");
  return textResult(`${answer}\n${words.replaceAll("<", "")}`);
}
