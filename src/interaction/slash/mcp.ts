import type { SlashCommand } from "./command.ts";

export const mcpCommand: SlashCommand = {
  name: "mcp",
  type: "local",
  describe: "MCP servers of this session, and how they are",
  anyTime: true,
  async run(_argument, { session, print }) {
    const lines = (session.mcp?.status() ?? []).map(({ name, status }) => `${name}: ${status}`);
    print(lines.length === 0 ? "No MCP servers. docs/mcp.md says how to add one." : lines.join("\n"));
    return undefined;
  },
};
