import type { ForeignTools } from "../safety/authorize.ts";
import { toolApprovals } from "../safety/tool-approvals.ts";
import type { McpTool } from "../tools/mcp/as-tool.ts";

/** Joins the servers' tools with what the person has allowed of them. Loaded with the first server. */
export function foreignTools(find: (name: string) => McpTool | undefined, trustStore: string): ForeignTools {
  const approvals = toolApprovals(trustStore);
  return {
    async changeOf(name) {
      const tool = await find(name)?.current();
      return tool && approvals.change(tool);
    },
    async approve(name) {
      const tool = await find(name)?.current();
      if (tool) await approvals.approve(tool);
    },
  };
}
