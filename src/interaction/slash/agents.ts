import type { SlashCommand } from "./command.ts";

export const agentsCommand: SlashCommand = {
  name: "agents",
  type: "local",
  describe: "Kinds of sub-agents, and those that run",
  anyTime: true,
  async run(_argument, { session, print }) {
    const [{ loadDefinitions }, { agentFolders }] = await Promise.all([
      import("../../engine/subagents/definitions.ts"),
      import("../../runtime/agent-places.ts"),
    ]);
    const { agents, reports } = await loadDefinitions(agentFolders(session.surroundings, session.permissions.isAccepted));
    print([...agents.values()].map(({ name, level, description }) => `${name} (${level}): ${description.split("\n", 1)[0]}`).join("\n"));
    for (const { verdict, reason } of reports) if (verdict !== "load") print(reason);
    const running = session.subagents.running.map(({ id, name, type, description }) => `${id} (${name ?? type}) runs: ${description}`);
    if (running.length > 0) print(running.join("\n"));
    return undefined;
  },
};
