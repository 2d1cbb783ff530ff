import type { ForeignTools } from "../safety/authorize.ts";
import { toolApprovals } from "../safety/tool-approvals.ts";
import type { McpTool } from "../tools/mcp/as-tool.ts";

/** Joins the servers' tools with what the person has allowed of them. Loaded with the first server. */
export function foreignTools(tools: readonly McpTool[], trustStore: string): ForeignTools {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const approvals = toolApprovals(trustStore);
  return {
    async changeOf(name) {
      const tool = await byName.get(name)?.current();
      return tool && approvals.change(tool);
    },
    async approve(name) {
      const tool = await byName.get(name)?.current();
      if (tool) await approvals.approve(tool);
    },
  };
}
