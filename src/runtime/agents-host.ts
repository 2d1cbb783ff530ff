import type { Subagents } from "../engine/subagents/background.ts";
import type { Checkpoints } from "../memory/checkpoints/checkpoints.ts";
import type { AgentEvent } from "../protocol/agent.ts";
import type { AskHuman, PermissionMode } from "../protocol/permission.ts";
import type { Tool, ToolResult } from "../protocol/tool.ts";
import type { TeamCreateInput } from "../team/tools/team-create.ts";
import type { FileState } from "../tools/file-state.ts";
import type { AgentRequest, OpenedAgent, ToolParts } from "./open-agent.ts";
import type { OpenedHooks } from "./open-hooks.ts";
import type { PermissionScope, Permissions } from "./permissions.ts";
import type { Skills } from "./skills.ts";
import type { Surroundings } from "./surroundings.ts";

/** The teams of a conversation. */
export type Teams = {
  /** Throws UserError with a reason for the model. */
  create(input: TeamCreateInput, signal: AbortSignal): Promise<ToolResult>;
  /** To a team's lead; undefined when no team goes by that name here. */
  send(to: string, text: string): ToolResult | undefined;
  /** Of earlier processes of the session: what was cut off is told, with the way to go on. */
  remember(): Promise<void>;
};

/** What a conversation gives the sub-agents that it starts. */
export type AgentsHost = {
  surroundings: Surroundings;
  /** Their sessions lie here, below the conversation's own. */
  folder: string;
  root: string;
  cwd: () => string;
  mode: () => PermissionMode;
  /** The conversation itself, once it is open. */
  parent: () => Pick<
    OpenedAgent,
    "agent" | "tools" | "system" | "spending" | "overBudget" | "permissions" | "modelName" | "session" | "fireHook" | "resultFolders"
  >;
  /** What the conversation has read: a fork knows it, too. */
  files: FileState;
  /** All tools that a sub-agent may get, before the filters, and the way to those that join later. */
  tools: (parts: ToolParts & { files: FileState }) => {
    tools: readonly Tool[];
    resolve?: AgentRequest["resolve"];
    skills: Skills;
  };
  /** What its first message says of tools that can be searched for. */
  toolReminder?: (() => string | undefined) | undefined;
  /** It has no code tools: who starts there without a type is no fork of it. */
  isCoordinator: boolean;
  /** Sub-agents run only while their caller waits. */
  isSynchronous: boolean;
  autoBackgroundMs: number;
  scope?: PermissionScope | undefined;
  waits?: AgentRequest["waits"];
  shellEnv?: NodeJS.ProcessEnv | undefined;
  /** Who answers the questions of one, with its own permissions; undefined when nobody does. */
  askHuman?: ((permissions: () => Permissions) => AskHuman) | undefined;
  /** Steps of files are undone with the conversation's. */
  checkpoints?: { open: () => Promise<Checkpoints>; turn: () => number } | undefined;
  onEvent?: ((agent: { id: string; label: string; callId: string }, event: AgentEvent) => void) | undefined;
  /** The process's hooks; those of a sub-agent are fired in its own name. */
  hooks?: OpenedHooks | undefined;
  team?: string | undefined;
  /** Where teams may grow out of the conversation. */
  openTeams?: ((agents: Subagents) => Promise<Teams>) | undefined;
  /** One in the background has ended. */
  onNews: () => void;
  onNote: (text: string) => void;
};
