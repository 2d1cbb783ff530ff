import type { Tool } from "../protocol/tool.ts";
import type { AgentMcp, SessionMcp } from "./agent-mcp.ts";
import type { AgentsHost } from "./agents-host.ts";
import { openSkills } from "./skill-places.ts";
import type { Surroundings } from "./surroundings.ts";
import { workTools } from "./toolset.ts";

/** What the sub-agents of a conversation may get, before their filters; each has skills of its own. */
export function subagentTools(
  surroundings: Surroundings,
  isAccepted: (item: string) => boolean,
  { mcp, more }: { mcp?: SessionMcp | undefined; more?: () => readonly Tool[] } = {},
): AgentsHost["tools"] {
  return ({ shell, bash, web, files, mayShow, addTools, sentTool }) => {
    const servers = mcp?.agent({ addTools, sent: sentTool });
    // It may end long before the servers do.
    servers?.[Symbol.dispose]();
    const skills = openSkills(surroundings, isAccepted);
    const settings = surroundings.settings.tools ?? {};
    const work = workTools({ web, shell, bash, files, mayShow, askUser: async () => undefined, settings });
    const loadSkill = skills.tool({ shell, bash, addTools, discover: async (names) => discoverNamed(names, servers) });
    return {
      tools: [...work, ...(more?.() ?? []), loadSkill, ...(servers?.tools ?? [])],
      ...(servers ? { resolve: servers.resolve } : {}),
      skills,
    };
  };
}

/** What a skill names of the servers' tools is there when it begins. */
export async function discoverNamed(names: readonly string[], servers: Pick<AgentMcp, "resolve"> | undefined): Promise<void> {
  for (const name of names) await servers?.resolve({ type: "tool_use", id: "", name, input: {} }, new AbortController().signal);
}
