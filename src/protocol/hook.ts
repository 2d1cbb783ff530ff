import type { CompactMode, CompactTrigger } from "./agent.ts";
import type { HookAdvice } from "./permission.ts";
import type { TeamMessage } from "./team.ts";
import type { ToolResult } from "./tool.ts";

/** What happened, with what a hook may need to judge it. Who it happened to is added where it is fired. */
export type HookEvent =
  | { event: "session_start"; source: "new" | "resume" }
  | { event: "session_end"; turns: number }
  | { event: "user_prompt_submit"; prompt: string }
  | { event: "pre_tool_use"; tool: string; input: unknown; callId: string }
  | { event: "post_tool_use" | "post_tool_failure"; tool: string; input: unknown; callId: string; result: ToolResult }
  | { event: "permission_request"; tool: string; subject: string; reason: string; isSticky: boolean }
  | { event: "notification"; kind: "permission" | "question"; message: string }
  | { event: "pre_compact"; trigger: CompactTrigger }
  | { event: "post_compact"; trigger: CompactTrigger; mode: CompactMode; tokensBefore: number; tokensAfter: number }
  /** `isAgain`: it goes on already because a hook wanted it to. */
  | { event: "stop" | "subagent_stop" | "teammate_idle"; text: string; isAgain: boolean }
  | { event: "subagent_start"; prompt: string }
  | { event: "task_created" | "task_completed"; task: { id: string; subject: string; description: string; owner?: string } }
  | { event: "teammate_spawned"; teammate: string; branch: string; worktree: string }
  | { event: "teammate_stopped"; teammate: string; reason: string }
  | { event: "message_received"; from: string; kind: TeamMessage["type"]; text: string }
  | { event: "worktree_created"; worktree: string; branch?: string }
  | { event: "pre_merge" | "post_merge"; teammate: string; branch: string; commit: string; worktree: string }
  | { event: "team_converged"; exitCode: number; merged: string[]; unmerged: string[]; branch?: string; commit?: string };

export type HookEventName = HookEvent["event"];

/** Whom an event happened to. `cwd`, `task` and `mode` are as they are at that moment. */
export type HookAgent = {
  agent: string;
  /** main, lead, worker, integrator, or the name of a sub-agent's definition. */
  agentType: string;
  session: string;
  transcript?: string;
  cwd: () => string;
  mode?: () => string;
  team?: string;
  worktree?: string;
  task?: () => string | undefined;
  /** A hook started it: what it does starts no further agent. */
  isOfHook?: boolean;
};

/** What all hooks of one event say together. */
export type HookOutcome = {
  /** The reason, where one refuses: a denial before a tool, and "go on" at an end. */
  block?: string;
  /** The run is to end, whatever comes; the reason. */
  halt?: string;
  /** For the model, whole: a reminder that stands inside a message. */
  context?: string;
  decision?: "allow" | "deny" | "ask";
  /** Of the decision. */
  reason?: string;
  updatedInput?: Record<string, unknown>;
};
export type FireHook = (event: HookEvent, signal: AbortSignal) => Promise<HookOutcome>;

/** What an outcome says of a call, for the permission layers: a refusal is a denial. */
export function adviceOf({ block, decision, reason }: HookOutcome): HookAdvice | undefined {
  if (block !== undefined) return { decision: "deny", reason: `a hook refused this call. ${block}` };
  if (decision === undefined) return undefined;
  return { decision, reason: `a hook says ${decision}${reason === undefined ? "" : `: ${reason}`}` };
}

/** Fires events in an agent's name. One for all agents of a process. */
export type Hooks = { of(agent: HookAgent): FireHook };

/** Runs a sub-agent on a prompt to its end; gives its last words. It shows in the list of tasks by its description. */
export type RunHookAgent = (request: { prompt: string; description: string }, signal: AbortSignal) => Promise<string>;
