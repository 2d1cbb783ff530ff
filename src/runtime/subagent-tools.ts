import type { Tool } from "../protocol/tool.ts";
import type { AgentsHost } from "./agents-host.ts";
import type { ToolLoading } from "./deferred-tools.ts";
import type { ToolParts } from "./open-agent.ts";
import { openSkills } from "./skill-places.ts";
import type { Surroundings } from "./surroundings.ts";
import { workTools } from "./toolset.ts";

/** What the sub-agents of a conversation may get, before their filters; each has skills of its own. `loadingOf`: of MCP servers. */
export function subagentTools(
  surroundings: Surroundings,
  isAccepted: (item: string) => boolean,
  { loadingOf, more }: { loadingOf?: ((addTools: ToolParts["addTools"]) => ToolLoading) | undefined; more?: () => readonly Tool[] } = {},
): AgentsHost["tools"] {
  return ({ shell, bash, web, files, mayShow, addTools }) => {
    const loading = loadingOf?.(addTools);
    const skills = openSkills(surroundings, isAccepted);
    const settings = surroundings.settings.tools ?? {};
    const work = workTools({ web, shell, bash, files, mayShow, askUser: async () => undefined, settings });
    const loadSkill = skills.tool({ shell, bash, addTools, discover: async (names) => discoverNamed(names, loading) });
    return {
      tools: [...work, ...(more?.() ?? []), loadSkill, ...(loading?.tools ?? [])],
      ...(loading ? { resolve: loading.resolve } : {}),
      skills,
    };
  };
}

/** What a skill names of the servers' tools is there when it begins. */
export async function discoverNamed(names: readonly string[], loading: ToolLoading | undefined): Promise<void> {
  for (const name of names) await loading?.resolve({ type: "tool_use", id: "", name, input: {} }, new AbortController().signal);
}
