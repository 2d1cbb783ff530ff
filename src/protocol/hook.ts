import type { ToolResult } from "./tool.ts";

export type HookEvent =
  | { event: "session_start"; source: "new" | "resume" }
  | { event: "user_prompt_submit"; prompt: string }
  | { event: "pre_tool_use" | "post_tool_use"; tool: string; input: unknown; result?: ToolResult }
  | { event: "pre_compact" | "teammate_idle" | "stop"; text: string };
export type HookOutcome = {
  block?: string;
  context?: string;
  decision?: "allow" | "deny" | "ask";
  updatedInput?: Record<string, unknown>;
};
export type FireHook = (event: HookEvent, signal: AbortSignal) => Promise<HookOutcome>;
