import type { AgentDefinition } from "./definitions.ts";

/** No sub-agent has these: it neither starts agents nor speaks for the one who started it. */
export const ALL_AGENT_DISALLOWED_TOOLS: readonly string[] = [
  ...["Agent", "AskUserQuestion", "ExitPlanMode", "SendMessage", "TaskStop", "TaskUpdate", "TeamCreate", "Converge"],
];
/** Nor has one that a project or a person defined. */
export const CUSTOM_AGENT_DISALLOWED_TOOLS: readonly string[] = ["TaskCreate"];
/** All that one has that begins in the background, beside the tools of MCP servers and skills. */
export const ASYNC_AGENT_ALLOWED_TOOLS: readonly string[] = [
  ...["ReadFile", "WriteFile", "EditFile", "Glob", "Grep", "Bash", "BashOutput", "WebFetch"],
  ...["ToolSearch", "UseTool", "LoadSkill", "ListMcpResources", "ReadMcpResource", "TaskList", "TaskGet"],
];
/** All that a teammate has inside the lead's process, beside the tools of MCP servers and skills. */
export const IN_PROCESS_TEAMMATE_ALLOWED_TOOLS: readonly string[] = [
  ...["ReadFile", "WriteFile", "EditFile", "Glob", "Grep", "Bash", "BashOutput", "WebFetch", "AskUserQuestion"],
  ...["ToolSearch", "UseTool", "LoadSkill", "ListMcpResources", "ReadMcpResource"],
  ...["Agent", "SendMessage", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TaskStop", "ExitPlanMode"],
];

export type FilterOptions = {
  /** Undefined for a fork, which has no definition of its own. */
  definition?: Pick<AgentDefinition, "level" | "tools" | "disallowedTools"> | undefined;
  isBackground: boolean;
};

/** Whether a sub-agent may use the tool of this name: four filters, each can only take away. */
export function mayUse(name: string, { definition, isBackground }: FilterOptions): boolean {
  if (ALL_AGENT_DISALLOWED_TOOLS.includes(name)) return false;
  if (definition && definition.level !== "built-in" && CUSTOM_AGENT_DISALLOWED_TOOLS.includes(name)) return false;
  if (isBackground && !isAllowed(name, ASYNC_AGENT_ALLOWED_TOOLS)) return false;
  if (definition?.disallowedTools.some((pattern) => names(pattern, name))) return false;
  return definition?.tools?.some((pattern) => names(pattern, name)) ?? true;
}

export function mayUseInProcess(name: string): boolean {
  return isAllowed(name, IN_PROCESS_TEAMMATE_ALLOWED_TOOLS);
}

function isAllowed(name: string, allowed: readonly string[]): boolean {
  return allowed.includes(name) || /^(?:mcp|skill)__/.test(name);
}

/**
 * `mcp__server` stands for all tools of the server, and what ends in a star for all that begins so: `mcp__server__*`, `mcp__*`; of a
 * skill `skill__name__*`.
 */
function names(pattern: string, name: string): boolean {
  if (pattern === name) return true;
  if (/^(?:mcp|skill)__.*\*$/.test(pattern)) return name.startsWith(pattern.slice(0, -1));
  const [, server] = /^mcp__(.+)$/.exec(pattern) ?? [];
  return server !== undefined && !server.includes("__") && name.startsWith(`mcp__${server}__`);
}
