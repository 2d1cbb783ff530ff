import { existsSync } from "node:fs";
import { agentTool, type TeammateRequest } from "../engine/subagents/agent-tool.ts";
import type { Subagents } from "../engine/subagents/background.ts";
import { sendToAgentTool } from "../engine/subagents/send-to-agent.ts";
import type { Subagent } from "../engine/subagents/subagent.ts";
import { taskTools } from "../engine/subagents/task-tools.ts";
import type { AgentEvent, AgentInput, LoopComplete, Pending } from "../protocol/agent.ts";
import { userText } from "../protocol/message.ts";
import { addUsage } from "../protocol/model.ts";
import { escapeSystemTags } from "../protocol/system-tags.ts";
import type { Tool } from "../protocol/tool.ts";
import { teamCreateTool } from "../team/tools/team-create.ts";
import type { AgentsHost, Teams } from "./agents-host.ts";
import type { SessionAgent } from "./create-agent.ts";
import type { RunApart } from "./skills.ts";
import type { SubagentRunner } from "./subagents.ts";

type Mail = { untilWork(signal: AbortSignal): Promise<void>; take(): Promise<Pending | undefined> };

/** The sub-agents of a conversation, seen from it: its tools, and what reaches it by itself. Little of it loads before one is started. */
export class SessionAgents implements AsyncDisposable {
  readonly #host: AgentsHost;
  #loading: Promise<SubagentRunner> | undefined;
  #agents: Subagents | undefined;
  #teams: Teams | undefined;

  constructor(host: AgentsHost) {
    this.#host = host;
    host.hooks?.runAgentsBy(async (request, signal) => (await this.#runner()).runForHook(request, signal));
  }

  /** `spawnTeammate` makes the Agent tool of a team's lead. */
  agentTool(spawnTeammate?: (request: TeammateRequest, signal: AbortSignal) => Promise<string>): Tool {
    return agentTool({
      runSubagent: async (call, context) => (await this.#runner()).call(call, context),
      ...(spawnTeammate ? { spawnTeammate } : {}),
      hasVerification: this.#host.surroundings.settings.enableVerificationAgent === true,
    });
  }

  /** Of a session that goes on: what became of those of its earlier process stands in the next message. Gives it for the person. */
  async goOn(): Promise<string[]> {
    const { openTeams, surroundings, folder } = this.#host;
    if (openTeams && existsSync(surroundings.data.teams)) await (await this.#loadTeams()).remember();
    if (!existsSync(folder) && !this.#agents) return [];
    const { agents } = await this.#runner();
    const left = agents.list().filter(({ id }) => !agents.isTold(id));
    return left.map(
      ({ id, name, end, isTeam }) =>
        `${isTeam ? "Team" : "Sub-agent"} ${name ?? id}: ${end?.status}. The agent hears of it with your next message.`,
    );
  }

  /** The tools of a session without a team. */
  tools(): Tool[] {
    const team = teamCreateTool(async (...request) => (await this.#loadTeams()).create(...request));
    const own = [this.agentTool(), sendToAgentTool(this.send, async () => this.#names()), ...this.taskTools()];
    return this.#host.openTeams ? [...own, team] : own;
  }

  /** Undefined for one that nobody knows. */
  readonly send = async (to: string, text: string, signal: AbortSignal) =>
    this.#teams?.send(to, text) ?? (await this.#runner()).send(to, text, signal);

  /** Whether one goes by this name or id. */
  async isKnown(to: string): Promise<boolean> {
    // One of an earlier process is found in its records.
    const agents = this.#agents ?? (/^agent-[0-9a-f]+$/.test(to) ? (await this.#runner()).agents : undefined);
    return agents?.find(to) !== undefined;
  }

  /** For skills that work apart. */
  readonly runApart: RunApart = async (...skill) => (await this.#runner()).runApart(...skill);

  /** For TaskStop; undefined for one that nobody knows. */
  readonly stop = async (to: string) => (await this.#runner()).stop(to);

  /** For the model, with its next request. */
  readonly news = (): string | undefined => this.#agents?.news();

  get hasNews(): boolean {
    return this.#agents?.hasNews ?? false;
  }

  get running(): readonly Subagent[] {
    return this.#agents?.running ?? [];
  }

  toBackground(): number {
    return this.#agents?.toBackground() ?? 0;
  }

  /** For a history that begins anew. */
  reminders(): string[] {
    if (this.running.length === 0) return [];
    const lines = this.running.map(({ id, name, type, description }) => `- ${id} (${name ?? type}): ${escapeSystemTags(description)}`);
    return [`<system-reminder>Sub-agents of yours at work; each tells its result by itself:\n${lines.join("\n")}</system-reminder>`];
  }

  /**
   * A run that is over when what it started in the background is: the model gets each result in a further turn. For who can't be woken
   * later: a print run, a teammate. `mail` ends the wait as well, and gets a turn of its own.
   */
  async *untilDone(agent: SessionAgent, input: AgentInput, signal: AbortSignal, mail?: Mail): AsyncGenerator<AgentEvent> {
    const { spending } = this.#host.parent();
    const { cost: spentBefore } = spending;
    let next = input;
    let before: LoopComplete | undefined;
    for (;;) {
      let end: LoopComplete | undefined;
      for await (const event of agent.run(next, signal)) {
        if (event.type === "loop_complete") end = event;
        else yield event;
      }
      if (!end) throw new Error("The agent loop ended without loop_complete.");
      const whole = before ? joined(before, end) : end;
      const later = end.reason === "end_turn" ? await this.#nextInput(signal, mail) : undefined;
      if (later === undefined) {
        const reason = signal.aborted && whole.reason === "end_turn" ? "aborted" : whole.reason;
        // What worked beside it may have spent between two runs as well.
        yield { ...whole, reason, ...(spending.isPriced ? { cost: spending.cost - spentBefore } : {}) };
        return;
      }
      before = whole;
      next = later;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#loading)?.[Symbol.asyncDispose]();
  }

  /** What a run goes on with while something works for it; undefined when nothing does any more. */
  async #nextInput(signal: AbortSignal, mail: Mail | undefined): Promise<AgentInput | undefined> {
    for (;;) {
      const isLast = this.running.length === 0;
      if (signal.aborted) return undefined;
      const news = this.news();
      if (news !== undefined) return { message: userText(news) };
      if (isLast) return undefined;
      const pending = await mail?.take();
      if (pending) return { message: userText(pending.reminder), mail: pending.mail };
      const enough = new AbortController();
      const either = AbortSignal.any([signal, enough.signal]);
      await Promise.race([this.#agents?.untilNews(either), ...(mail ? [mail.untilWork(either)] : [])]);
      enough.abort();
    }
  }

  /** The one list; of a session without a team its sub-agents have it, too. */
  taskTools(): Tool[] {
    const store = async () => (await import("./subagent-records.ts")).taskStore(this.#host.folder);
    return taskTools({
      store: { read: async () => (await store()).read(), write: async (tasks) => (await store()).write(tasks) },
      agents: async () => (await this.#runner()).agents,
      onTask: async (event, { id, subject, description }) => {
        const { fireHook } = this.#host.parent();
        return (await fireHook?.({ event, task: { id, subject, description } }, new AbortController().signal))?.block;
      },
    });
  }

  async #loadTeams(): Promise<Teams> {
    const { openTeams } = this.#host;
    if (!openTeams) throw new Error("This conversation has no TeamCreate.");
    const { agents } = await this.#runner();
    this.#teams ??= await openTeams(agents);
    return this.#teams;
  }

  async #names(): Promise<string[]> {
    const { agents } = await this.#runner();
    return agents.list().map(({ id, name }) => (name === undefined ? id : `${name} (${id})`));
  }

  async #runner(): Promise<SubagentRunner> {
    this.#loading ??= import("./subagents.ts").then(({ SubagentRunner: Runner }) => Runner.open(this.#host));
    try {
      const runner = await this.#loading;
      this.#agents = runner.agents;
      return runner;
    } catch (error) {
      // The next who needs it tries again, and the end of the session has nothing to close.
      this.#loading = undefined;
      throw error;
    }
  }
}

/** Several runs as one, to who sees only its end. */
function joined(before: LoopComplete, end: LoopComplete): LoopComplete {
  const { cost: _, ...rest } = end;
  return { ...rest, turns: before.turns + end.turns, usage: addUsage(before.usage, end.usage) };
}
