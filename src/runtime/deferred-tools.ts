import type { ResolvedCall } from "../engine/run-tool.ts";
import type { ToolUseBlock } from "../protocol/message.ts";
import type { Tool } from "../protocol/tool.ts";
import { type DeferredTools, discovered, toolSearchTool } from "../tools/builtin/tool-search.ts";
import type { AgentTools } from "./agent-tools.ts";

/** How one agent comes to the tools that are not in its first request. Loaded with the first server. */
export type ToolLoading = {
  /** Of the first request. */
  tools: readonly Tool[];
  /** For calls of what was announced by its name only. */
  resolve(call: ToolUseBlock, signal: AbortSignal): Promise<ResolvedCall | undefined>;
};

/** A tool joins the array once it was found, or called by its name. */
export function appendedTools(deferred: DeferredTools, addTools: AgentTools["add"]): ToolLoading {
  const search = toolSearchTool(deferred, (tools) => {
    addTools(tools);
    return discovered(tools);
  });
  return {
    tools: [search],
    async resolve({ name, input }, signal) {
      const find = () => deferred.all().find((tool) => tool.name === name);
      if (!name.startsWith("mcp__")) return undefined;
      if (!find()) await deferred.settled(name, signal);
      const tool = find();
      const refusal = tool ? undefined : deferred.missing(name);
      if (tool) addTools([tool]);
      return tool ? { tool, input } : refusal === undefined ? undefined : { refusal };
    },
  };
}
