import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { systemPrompt } from "../engine/system-prompt.ts";
import { identity } from "../platform/commit.ts";
import { neutralGitVariables } from "../platform/git.ts";
import type { AgentEvent, LoopComplete } from "../protocol/agent.ts";
import type { Hooks } from "../protocol/hook.ts";
import { userText } from "../protocol/message.ts";
import { addSpent, NOTHING_SPENT, type Spent } from "../protocol/model.ts";
import type { AskHuman, PermissionMode } from "../protocol/permission.ts";
import { INTEGRATOR, LEAD, type TeamBus, type TeamStep } from "../protocol/team.ts";
import { teamLayout } from "../team/bus/file/layout.ts";
import type { IntegratorJob } from "../team/converge/converge.ts";
import { sendMessageTool } from "../team/tools/send-message.ts";
import { type AskUser, askUserTool } from "../tools/builtin/ask-user.ts";
import { bashTool } from "../tools/builtin/bash.ts";
import { editFileTool } from "../tools/builtin/edit-file.ts";
import { grepTool } from "../tools/builtin/grep.ts";
import { readFileTool } from "../tools/builtin/read-file.ts";
import { FileState } from "../tools/file-state.ts";
import { builtInPrompt } from "./built-in-agent.ts";
import type { LeadSide } from "./lead.ts";
import { openAgent } from "./open-agent.ts";
import type { Spending } from "./spending.ts";
import type { Surroundings } from "./surroundings.ts";
import { teamReminders } from "./team-reminders.ts";

const INTEGRATOR_TURNS = 100;

export type IntegratorOptions = LeadSide & {
  surroundings: Surroundings;
  team: string;
  hooks: Hooks | undefined;
  bus: TeamBus;
  teamFolder: string;
  mode: PermissionMode;
  model?: string | undefined;
  /** Of all integrators of the team. */
  spending: Spending;
  askHuman?: AskHuman | undefined;
  askUser: AskUser;
  onEvent: (event: AgentEvent) => void;
  onStep: (step: TeamStep) => void;
};

/** By the integrators of this team's earlier processes: each has a session of its own. */
export async function integratorsSpent(teamFolder: string): Promise<Spent> {
  const folder = join(teamFolder, "sessions");
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.startsWith(`${INTEGRATOR}-`) && name.endsWith(".jsonl"));
  if (names.length === 0) return NOTHING_SPENT;
  const { loadSession } = await import("../memory/load-session.ts");
  const sessions = names.map((name) => loadSession(join(folder, name)).loaded);
  // A teammate may have such a name; its header tells.
  return sessions.filter(({ header }) => header.agent === INTEGRATOR).reduce<Spent>((sum, one) => addSpent(sum, one), NOTHING_SPENT);
}

/** The lead's integrator: the same loop in a conversation of its own, bounded to the integration worktree. */
export async function runIntegrator(job: IntegratorJob, options: IntegratorOptions, signal: AbortSignal): Promise<LoopComplete> {
  const { surroundings, bus, teamFolder } = options;
  const role = await builtInPrompt("integrator");
  const files = new FileState();
  const id = randomUUID();
  await using opened = await openAgent(surroundings, {
    name: INTEGRATOR,
    root: job.worktree,
    cwd: job.worktree,
    mode: () => options.mode,
    maxTurns: INTEGRATOR_TURNS,
    model: options.model,
    sessionId: id,
    sessionPath: join(teamFolder, "sessions", `${INTEGRATOR}-${id.slice(0, 8)}.jsonl`),
    system: (environment) => systemPrompt(environment, role, ""),
    tools: ({ shell, bash, mayShow }) => [
      readFileTool(files),
      editFileTool(files),
      grepTool(mayShow),
      job.guard(bashTool(shell, bash)),
      // It speaks in the lead's name: answers come to the lead's box, which is read here.
      sendMessageTool({ mailbox: bus.mailbox, roster: bus.roster, presence: bus.presence, self: LEAD }),
      askUserTool(options.askUser),
    ],
    hooks: options.hooks && {
      hooks: options.hooks,
      agentType: INTEGRATOR,
      team: options.team,
      worktree: job.worktree,
      subagent: { prompt: job.prompt },
    },
    pending: options.pending,
    overBudget: options.overBudget,
    preserve: () => teamReminders(bus, INTEGRATOR, "integrator"),
    spending: options.spending,
    askHuman: options.askHuman,
    shellEnv: {
      ...(await identity(job.worktree)),
      ...(await neutralGitVariables(job.worktree)),
      ...job.env,
    },
    isMerging: true,
    waits: teamLayout(teamFolder).waits,
    scope: {
      granted: job.grants,
      auditPath: join(teamFolder, "audit.jsonl"),
      // No branch is its own: it works on a detached HEAD.
      team: { primaryCheckout: surroundings.projectRoot, ownBranch: "", worktreesRoot: surroundings.data.worktrees },
    },
  });
  await opened.start();
  let end: LoopComplete | undefined;
  for await (const event of opened.agent.run({ message: userText(job.prompt) }, signal)) {
    if ((event.type === "message" || event.type === "round_end") && event.mail && event.mail.length > 0)
      await options.acknowledge(event.mail);
    if (event.type === "loop_complete") end = event;
    options.observe(event, INTEGRATOR);
    options.onEvent(event);
  }
  if (!end) throw new Error("The integrator's loop ended without loop_complete.");
  return end;
}
