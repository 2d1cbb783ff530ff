import type { Subagents } from "../engine/subagents/background.ts";
import type { SubagentEnd } from "../engine/subagents/subagent.ts";
import { isAlive } from "../platform/process.ts";
import { UserError } from "../protocol/errors.ts";
import type { Spent } from "../protocol/model.ts";
import type { PermissionMode } from "../protocol/permission.ts";
import { escapeSystemTags } from "../protocol/system-tags.ts";
import type { TeamConfig } from "../protocol/team.ts";
import { errorResult, type ToolResult, textResult } from "../protocol/tool.ts";
import { CONTAINED } from "../safety/authorize.ts";
import { readRoster, readTeam } from "../team/bus/team-bus.ts";
import type { TeamCreateInput } from "../team/tools/team-create.ts";
import type { AgentsHost, Teams } from "./agents-host.ts";
import { teamNames } from "./find-team.ts";
import { runTeam, type TeamScreen } from "./run-team.ts";
import { readSurroundings, type Surroundings } from "./surroundings.ts";
import { createTeam } from "./team-create.ts";
import type { TeamOutcome } from "./team-outcome.ts";
import { totalSpent } from "./team-status.ts";

const DEFAULT_TEAMMATES = 4;

type Host = Pick<AgentsHost, "surroundings" | "mode" | "parent"> & {
  /** Its id. */
  session: string;
  /** Where a team shows, and who answers its questions. */
  screen: (team: string) => TeamScreen;
  /** What --max-cost leaves of US dollars now; undefined without a cap. */
  left: () => number | undefined;
};

/** Teams that grow out of a conversation: the lead is a conversation of its own in this process, and its report comes as that of a sub-agent. */
export class SessionTeams implements Teams {
  readonly #host: Host;
  readonly #agents: Subagents;
  /** Of those that run, by the id of their job. */
  readonly #tell = new Map<string, (text: string) => void>();
  /** US dollars that running teams may take. */
  #given = 0;

  constructor(host: Host, agents: Subagents) {
    this.#host = host;
    this.#agents = agents;
  }

  async create({ goal, name, check }: TeamCreateInput, signal: AbortSignal): Promise<ToolResult> {
    const { surroundings, session, screen: screenOf } = this.#host;
    this.#left();
    await this.#approveCheck(check, signal);
    // The branch of this moment, which may be another than the session began on.
    const own = await readSurroundings(surroundings.cwd, surroundings.env, this.#flags());
    const team = await createTeam(own, { goal, name, check, backend: "auto", merge: true, session });
    const cap = own.flags.maxCost ?? 0;
    this.#given += cap;
    const id = `team-${team.team.name}`;
    const { askHuman, ...screen } = screenOf(team.team.name);
    this.#agents.start({ id, name: team.team.name, type: "team", description: goal, isTeam: true }, true, async (run) => {
      try {
        const outcome = await runTeam(
          own,
          {
            ...team,
            maxRunning: own.settings.team?.teammates ?? DEFAULT_TEAMMATES,
            coordinator: true,
            headless: askHuman === undefined,
            layout: "auto",
            onBegin: (tell) => this.#tell.set(id, tell),
          },
          { ...screen, ...(askHuman ? { askHuman } : {}) },
          run.signal,
        );
        this.#settle(cap, outcome.spent);
        return endOf(outcome);
      } catch (error) {
        const { presence } = await readTeam(team.folder);
        this.#settle(cap, totalSpent(presence));
        throw error;
      } finally {
        this.#tell.delete(id);
      }
    });
    const answer = JSON.stringify({ status: "async_launched", agentId: id, name: team.team.name });
    return textResult(
      `${answer}\nThe team begins at ${team.ground.baseCommit.slice(0, 8)} of ${team.ground.baseBranch}, in mode ${team.mode}. Its report comes in a task-notification, by itself.`,
    );
  }

  send(to: string, text: string): ToolResult | undefined {
    const agent = this.#agents.find(to);
    if (!agent?.isTeam) return undefined;
    const tell = this.#tell.get(agent.id);
    if (!tell) return errorResult(agent.end ? `The team ${to} is over: ${agent.end.status}.` : `The lead of ${to} has not begun yet.`);
    tell(
      `<system-reminder>The conversation that started this team writes, for the person whom you both work for:\n${escapeSystemTags(text)}\n</system-reminder>`,
    );
    return textResult(`Delivered to the lead of ${to}, who reads it before the next model call.`);
  }

  async remember(): Promise<void> {
    const { surroundings, session } = this.#host;
    const { data } = surroundings;
    for (const name of await teamNames(data)) {
      const team = await readableTeam(data.team(name));
      if (team?.lead?.session !== session || isAlive(team.lead.process)) continue;
      const note = `Its lead ended with the process of this session. What its members did is saved on their branches. The person goes on with it by: roocode team resume ${name}`;
      this.#agents.remember(
        { id: `team-${name}`, name, type: "team", description: team.goal, isTeam: true, startedAt: new Date().toISOString() },
        { status: "stopped", text: "", notes: [note], turns: 0 },
        false,
      );
    }
  }

  /** The check is the model's words: who approves the team has read it, and what no command may do it may not either. */
  async #approveCheck(check: string | undefined, signal: AbortSignal): Promise<void> {
    if (check === undefined) return;
    const { authorize } = this.#host.parent().permissions;
    const request = { agent: "main", tool: "Bash", access: { kind: "command", subject: check } } as const;
    const contained = await authorize(request, signal);
    // The team's own check runs outside of the OS sandbox, so what is allowed only inside of it is not allowed yet.
    const isFree = contained.decision === "allow" && contained.reason === CONTAINED;
    const { decision, reason } = isFree
      ? await authorize({ ...request, access: { ...request.access, isUnsandboxed: true } }, signal)
      : contained;
    if (decision === "deny")
      throw new UserError(`The check "${check}" is denied: ${reason.replace(/\.$/, "")}. Leave it out, or take another.`);
  }

  /** What a team that begins now may cost. */
  #left(): number | undefined {
    const all = this.#host.left();
    if (all === undefined) return undefined;
    const left = all - this.#given;
    if (left > 0) return left;
    throw new UserError(
      this.#given > 0
        ? "All that --max-cost leaves is given to the team that runs. Wait for its report, or end it with TaskStop."
        : "The session's --max-cost is reached.",
    );
  }

  #settle(cap: number, spent: Spent): void {
    this.#given -= cap;
    this.#host.parent().spending.addSpent(spent);
  }

  #flags(): Surroundings["flags"] {
    const { surroundings, mode, parent } = this.#host;
    const { maxCost: _, ...flags } = surroundings.flags;
    const left = this.#left();
    const wanted = teamMode(mode(), surroundings);
    return {
      ...flags,
      model: parent().modelName(),
      ...(wanted === undefined ? {} : { permissionMode: wanted }),
      ...(left === undefined ? {} : { maxCost: left }),
    };
  }
}

/** Teams of all sessions lie there: one that is damaged, of a newer RooCode or tidied away meanwhile must not keep this one from going on. */
async function readableTeam(folder: string): Promise<TeamConfig | undefined> {
  try {
    return await readRoster(folder);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

/** The session's, but for one that nobody has chosen: a team's own default is another. */
function teamMode(mode: PermissionMode, { flags, settings }: Surroundings): PermissionMode | undefined {
  return mode === "default" && flags.permissionMode === undefined && settings.permissionMode === undefined ? undefined : mode;
}

function endOf({ exitCode, words, text }: TeamOutcome): SubagentEnd {
  const status = exitCode === 0 ? "completed" : exitCode === 130 ? "stopped" : "failed";
  return { status, text: [words, text].filter((part) => part !== "").join("\n\n"), notes: [], turns: 0 };
}
