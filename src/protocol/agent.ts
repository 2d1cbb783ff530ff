import type { AssistantMessage, Message, ToolUseBlock, UserMessage } from "./message.ts";
import type { ModelErrorKind, Usage } from "./model.ts";
import type { PermissionDecision, PermissionMode, PermissionRequest } from "./permission.ts";
import type { Tool, ToolResult } from "./tool.ts";

/**
 * What goes with the next results. `mail` are ids of the envelopes that the reminder holds; `steering` is what the person typed
 * while the agent worked.
 */
export type Pending = { reminder: string; mail: string[]; steering?: string };

export type AgentSpec = {
  name: string;
  system: string;
  tools: readonly Tool[];
  model: string;
  cwd: string;
  mode: PermissionMode;
  maxTurns: number;
  history: readonly Message[];
  /** They go inside the last result of the round, or wake an idle agent as a user message. */
  pending?: () => Promise<Pending | undefined>;
};

export type LoopEndReason = "end_turn" | "max_turns" | "aborted" | "refusal" | "unknown_tools" | "repeating" | "budget" | "hook" | "error";

/** `overflow`: the server refused the request as too long; `manual`: the person asked for it. */
export type CompactTrigger = "auto" | "overflow" | "manual";
/** The rung of the ladder that held: a summary by the live conversation, one by a transcript, or rounds dropped without a model. */
export type CompactMode = "suffix" | "transcript" | "dropped";

export type AgentEvent =
  | { type: "turn_start"; turn: number }
  | { type: "stream_text" | "stream_thinking"; text: string }
  | { type: "tool_use"; call: ToolUseBlock }
  | { type: "tool_progress"; id: string; text: string }
  | { type: "tool_result"; call: ToolUseBlock; result: ToolResult }
  | { type: "permission"; id: string; request: PermissionRequest; decision: PermissionDecision }
  | { type: "state"; state: "calling" | "running_tools" | "need_confirm" | "rate_limited" | "compacting" }
  /** `reason`: what is otherwise this time; without it the same request is made again. */
  | { type: "retry"; attempt: number; max: number; delayMs: number; kind: ModelErrorKind; reason?: string }
  | { type: "attempt_reset"; reason: string }
  | { type: "notice"; text: string }
  /** What a request took that brought no message: a summary that could not be used. */
  | { type: "spent"; usage: Usage; cost?: number }
  | { type: "message"; message: UserMessage | AssistantMessage; usage?: Usage; cost?: number; mail?: readonly string[] }
  /** All results of the round are out; the ids in `mail` may be acknowledged once this was taken. */
  | { type: "round_end"; reminder?: string; steering?: string; mail?: readonly string[] }
  /** The history is another one from here on. `usage` and `cost` are those of the summary. */
  | {
      type: "compacted";
      trigger: CompactTrigger;
      mode: CompactMode;
      tokensBefore: number;
      tokensAfter: number;
      usage: Usage;
      cost?: number;
    }
  | {
      type: "loop_complete";
      reason: LoopEndReason;
      text: string;
      turns: number;
      usage: Usage;
      /** US dollars; absent where a price is unknown. */
      cost?: number;
      error?: { kind: ModelErrorKind; message: string };
    };

export type LoopComplete = Extract<AgentEvent, { type: "loop_complete" }>;
/** `mail`: ids of the envelopes that `message` holds, when mail woke the agent. */
export type AgentInput = { message: UserMessage; mail?: readonly string[] };
export interface Agent {
  run(input: AgentInput, signal: AbortSignal): AsyncIterable<AgentEvent>;
}
export type CreateAgent = (spec: AgentSpec) => Promise<Agent>;
