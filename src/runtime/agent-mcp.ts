import type { ImageBlock, Message, TextBlock } from "../protocol/message.ts";
import type { ToolSpec } from "../protocol/model.ts";
import type { ForeignTools } from "../safety/authorize.ts";
import type { McpPrompt } from "../tools/mcp/prompts.ts";
import type { AgentTools } from "./agent-tools.ts";
import type { ToolLoading } from "./deferred-tools.ts";

export type ToolLoadingKind = "append" | "native" | "proxy";
/** The servers' side of one agent; each agent of the process has its own, and all share the connections. */
export type AgentMcp = ToolLoading &
  Disposable & {
    /** A reminder of what the model does not know yet of the servers; `history` is what it has read. */
    news(history: readonly Message[]): string | undefined;
    /** The same for a new history: all of it. */
    all(): string[];
    wentBack(): void;
  };
type AgentSide = { addTools: AgentTools["add"]; sent: (name: string) => ToolSpec | undefined };
export type SessionMcp = AsyncDisposable & {
  agent(side: AgentSide): AgentMcp;
  /** For an agent that begins: what there is now. */
  reminder(): string | undefined;
  foreignTools: ForeignTools;
  status(): { name: string; status: "connected" | "pending" | "failed" | "needs-auth" }[];
  /** Resolves once the servers are there that the first request has to wait for, or have had their time. */
  ready(signal: AbortSignal): Promise<void>;
  /** Contents of the resources that a prompt mentions as `@server:uri`. */
  mentions(text: string, signal: AbortSignal): Promise<(TextBlock | ImageBlock)[]>;
  /** Prompts of the servers that are there, as commands: `mcp__server__prompt`. */
  prompts(): McpPrompt[];
  /** What such a command stands for; undefined for none. */
  expandPrompt(name: string, argument: string, signal: AbortSignal): Promise<(TextBlock | ImageBlock)[] | undefined>;
};
