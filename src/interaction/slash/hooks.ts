import type { SlashCommand } from "./command.ts";

export const hooksCommand: SlashCommand = {
  name: "hooks",
  type: "local",
  describe: "Hooks of the settings, in the order in which they run",
  anyTime: true,
  async run(_argument, { session, print }) {
    const { hookLine, hookReport } = await import("../../runtime/hook-report.ts");
    const { hooks, problems } = await hookReport(session.surroundings);
    const lines = [...hooks.map(hookLine), ...problems];
    print(lines.length === 0 ? `No hooks. Put them under hooks in ${session.surroundings.data.config}.` : lines.join("\n"));
    return undefined;
  },
};
