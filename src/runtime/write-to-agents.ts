import { isRecord } from "../protocol/record.ts";
import type { Roster } from "../protocol/team.ts";
import type { Tool } from "../protocol/tool.ts";
import { agentNameRegistry } from "../team/agent-name-registry.ts";
import type { SessionAgents } from "./session-agents.ts";

/** SendMessage of a member of a team: what is addressed to one of its own sub-agents goes there; members come first. */
export function writeToAgentsToo(tools: readonly Tool[], roster: Pick<Roster, "read">, agents: SessionAgents): Tool[] {
  return tools.map((tool) => (tool.name === "SendMessage" ? withAgents(tool, roster, agents) : tool));
}

function withAgents(tool: Tool, roster: Pick<Roster, "read">, agents: SessionAgents): Tool {
  return {
    ...tool,
    async run(input, context) {
      const { to, message } = isRecord(input) ? input : {};
      if (typeof to !== "string" || typeof message !== "string") return tool.run(input, context);
      const isMember = agentNameRegistry(await roster.read()).has(to);
      const sent = !isMember && (await agents.isKnown(to)) ? await agents.send(to, message, context.signal) : undefined;
      return sent ?? tool.run(input, context);
    },
  };
}
