import { join } from "node:path";
import type { AgentCall } from "../engine/subagents/agent-tool.ts";
import { Subagents } from "../engine/subagents/background.ts";
import { type AgentDefinition, loadDefinitions } from "../engine/subagents/definitions.ts";
import { forkedHistory } from "../engine/subagents/fork.ts";
import { endText } from "../engine/subagents/notification.ts";
import type { Subagent, SubagentRun } from "../engine/subagents/subagent.ts";
import { readHeader } from "../memory/session-head.ts";
import { UserError } from "../protocol/errors.ts";
import { interrupter } from "../protocol/interruption.ts";
import type { Message } from "../protocol/message.ts";
import { errorResult, type ToolContext, type ToolResult, textResult } from "../protocol/tool.ts";
import type { AllowList } from "../safety/allow-list.ts";
import type { Skill } from "../tools/skills/skill.ts";
import { toolName } from "../tools/skills/tool-json.ts";
import { agentFolders } from "./agent-places.ts";
import type { AgentsHost } from "./agents-host.ts";
import { endOfCut } from "./cut-subagent.ts";
import type { Beginning, OpenedAgent } from "./open-agent.ts";
import { type First, runSubagent } from "./run-subagent.ts";
import { subagentModel } from "./subagent-model.ts";
import { begun, newRecord, readRecords, type SubagentRecord, writeRecord } from "./subagent-records.ts";
import { makeWorktree } from "./subagent-worktree.ts";

/** Each has a conversation in memory and asks the same server. */
const MAX_RUNNING = 16;
const FULL = `${MAX_RUNNING} sub-agents run already. Wait for one to end, or end one with TaskStop.`;
const NAME = /^[\p{L}\p{N}][\p{L}\p{N}_-]{0,31}$/u;
const TAKEN = /^(main|lead|agent-[0-9a-f]+)$/i;

/** Starts the sub-agents of one conversation, and lets them go on. Loaded when the first is started. */
export class SubagentRunner implements AsyncDisposable {
  readonly agents: Subagents;
  readonly #host: AgentsHost;
  readonly #records = new Map<string, SubagentRecord>();
  readonly #starting = new Set<AgentCall>();
  #writing: Promise<void> = Promise.resolve();

  private constructor(host: AgentsHost) {
    this.#host = host;
    this.agents = new Subagents({ onNews: host.onNews, onTold: (id) => this.#noteTold(id) });
  }

  static async open(host: AgentsHost): Promise<SubagentRunner> {
    const runner = new SubagentRunner(host);
    for (const record of await readRecords(host.folder)) {
      const end = record.end ?? (await endOfCut(record, runner.#sessionPath(record.id), host.surroundings));
      const ended = { ...record, end: { ...end, notes: [...end.notes] } };
      runner.#records.set(record.id, ended);
      if (!record.end) await runner.#write(ended);
      runner.agents.remember(record, end, record.isTold === true);
    }
    return runner;
  }

  /** The Agent tool's work. Throws UserError with a reason for the model. */
  async call(call: AgentCall, context: ToolContext): Promise<ToolResult> {
    this.#checkName(call.name);
    if (this.#isFull) throw new UserError(FULL);
    // Calls that run at once count each other.
    this.#starting.add(call);
    const { agent, notes } = await this.#begin(call, context).finally(() => this.#starting.delete(call));
    return agent.isBackground ? launched(agent, notes) : this.#inFront(agent, notes, context.signal);
  }

  async #begin(call: AgentCall, context: ToolContext): Promise<{ agent: Subagent; notes: string[] }> {
    const host = this.#host;
    const { name } = call;
    const definition = await this.#definition(call.subagent_type);
    if (!definition && host.isSynchronous)
      throw new UserError("Give a subagent_type: a fork works in the background, and here a sub-agent runs only while its caller waits.");
    const isBackground = !host.isSynchronous && (!definition || definition.background || call.run_in_background === true);
    const parent = host.parent();
    const { model, remark } = definition
      ? subagentModel(call.model ?? definition.model, parent.modelName(), host.surroundings)
      : { model: parent.modelName(), remark: call.model === undefined ? undefined : "A fork has your model" };
    // Before anything is waited for: the history is that of this moment.
    const history = [...parent.agent.history];
    const id = this.agents.newId();
    const isIsolated = call.isolation === "worktree" || definition?.isolation === "worktree";
    const worktree = isIsolated ? await makeWorktree(host.surroundings, id, { onNote: host.onNote, signal: context.signal }) : undefined;
    if (worktree) await parent.fireHook?.({ event: "worktree_created", worktree: worktree.path, branch: worktree.branch }, context.signal);
    const record = this.#restricted(newRecord({ id, name, definition, description: call.description, model, isBackground, worktree }));
    const first: First = definition
      ? { type: "prompt", prompt: call.prompt, definition }
      : { type: "fork", begin: beginningOf(parent, forkedHistory(history, context.callId, call.prompt, worktree?.path)) };
    const agent = await this.#start(record, { first, prompt: call.prompt, callId: context.callId });
    return { agent, notes: remark === undefined ? [] : [remark] };
  }

  /** Undefined for one that nobody knows. */
  async send(to: string, text: string, signal: AbortSignal): Promise<ToolResult | undefined> {
    const agent = this.agents.find(to);
    const record = agent && this.#records.get(agent.id);
    if (!agent || !record) return undefined;
    if (agent.end && !readHeader(this.#sessionPath(agent.id)))
      return errorResult(`${agent.id} ended before it had begun: there is nothing to go on from. Start another one.`);
    if (this.agents.write(agent.id, text)) return textResult(`Delivered. ${agent.id} is at work and reads it with its next round.`);
    if (this.#isFull) return errorResult(FULL);
    const isBackground = !this.#host.isSynchronous;
    const next = { ...record, startedAt: new Date().toISOString(), isBackground };
    const again = await this.#start(next, { first: { type: "message", text }, prompt: text });
    if (isBackground) return launched(again, ["It goes on with all that it knew"]);
    return this.#inFront(again, [], signal);
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
    if (this.#isFull) throw new UserError(FULL);
    const definition = await this.#definition("general-purpose");
    if (!definition) throw new Error("general-purpose is always there.");
    const host = this.#host;
    const { model, remark } = subagentModel(skill.model ?? definition.model, host.parent().modelName(), host.surroundings);
    const id = this.agents.newId();
    const record = this.#restricted(newRecord({ id, definition, description: `the skill ${skill.name}`, model, isBackground: false }));
    const { rules } = record;
    if (skill.allowedTools) record.rules = { ...rules, ...listOf(skill, skill.allowedTools, rules.allowLists ?? []) };
    const agent = await this.#start(record, { first: { type: "prompt", prompt, definition }, prompt, callId: context.callId, skill });
    return this.#inFront(agent, remark === undefined ? [] : [remark], context.signal);
  }

  /** For a hook, which waits for its last words; it shows in the list of tasks. */
  async runForHook({ prompt, description }: { prompt: string; description: string }, signal: AbortSignal): Promise<string> {
    const definition = await this.#definition("general-purpose");
    if (!definition) throw new Error("general-purpose is always there.");
    const id = this.agents.newId();
    const record = this.#restricted(newRecord({ id, definition, description, model: this.#host.parent().modelName(), isBackground: true }));
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
    const now = begun(record);
    this.#records.set(record.id, now);
    // Its record first: whatever is in its session is found again.
    await this.#write(now);
    const { id, name, type, description } = record;
    return this.agents.start({ id, name, type, description }, record.isBackground, async (run: SubagentRun) => {
      const end = await runSubagent({ ...job, record: now, callId, isOfHook, sessionPath: this.#sessionPath(id) }, host, run);
      const ended = { ...now, isTold: this.agents.isTold(id), end: { ...end, notes: [...end.notes] } };
      this.#records.set(id, ended);
      await this.#write(ended);
      return end;
    });
  }

  /** For a later process: it need not be told again. */
  #noteTold(id: string): void {
    const record = this.#records.get(id);
    // One that still runs gets it with its end.
    if (!record?.end) return;
    const told = { ...record, isTold: true };
    this.#records.set(id, told);
    this.#write(told).catch((error: unknown) => {
      this.#host.onNote(`What became of ${id} could not be saved: ${error instanceof Error ? error.message : String(error)}`);
    });
  }

  /** One after another: the last one stands. */
  #write(record: SubagentRecord): Promise<void> {
    const written = this.#writing.then(() => writeRecord(this.#host.folder, record));
    this.#writing = written.catch(() => undefined);
    return written;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.agents[Symbol.asyncDispose]();
    await this.#writing;
  }

  async #inFront(agent: Subagent, notes: readonly string[], signal: AbortSignal): Promise<ToolResult> {
    const end = await this.agents.inFront(agent, this.#host.isSynchronous ? 0 : this.#host.autoBackgroundMs, signal);
    if (end === "background") return launched(agent, ["It goes on in the background", ...notes]);
    const text = endText(agent, { ...end, notes: [...notes, ...end.notes] });
    if (signal.aborted) return errorResult(`Interrupted by ${interrupter(signal)}.\n${text}`);
    return end.status === "completed" ? textResult(text) : errorResult(text);
  }

  /** What skills take away from the one who starts it is taken from it too, for as long as it lives. */
  #restricted(record: SubagentRecord): SubagentRecord {
    const lists = this.#host.scope?.allowLists?.() ?? [];
    if (lists.length === 0) return record;
    return { ...record, rules: { ...record.rules, allowLists: lists.map(({ name, tools }) => ({ name, tools: [...tools] })) } };
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

  get #isFull(): boolean {
    return this.agents.running.length + this.#starting.size >= MAX_RUNNING;
  }

  #checkName(name: string | undefined): void {
    if (name === undefined) return;
    if (!NAME.test(name) || TAKEN.test(name))
      throw new UserError(`"${name}" can't be a name: 1 to 32 letters, digits, - or _, and not main, lead or an id.`);
    const other = this.agents.find(name);
    if (other && !other.end) throw new UserError(`${name} runs already (${other.id}). Take another name, or write to it with SendMessage.`);
    if ([...this.#starting].some((call) => call.name === name))
      throw new UserError(`Another call of yours starts ${name}. Take another name.`);
  }
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

function beginningOf({ system, tools }: Pick<OpenedAgent, "system" | "tools">, history: readonly Message[]): Beginning {
  return { system, tools: [...tools.sent], history };
}

function launched({ id, name }: Subagent, notes: readonly string[]): ToolResult {
  const answer = JSON.stringify({ status: "async_launched", agentId: id, ...(name === undefined ? {} : { name }) });
  // The brackets of the tag would be escaped: only the system's own notices have them.
  const words = [...notes.map((note) => `${note}.`), "Its result comes in a task-notification, by itself."].join(" ");
  return textResult(`${answer}\n${words}`);
}
