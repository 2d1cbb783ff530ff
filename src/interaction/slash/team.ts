import type { SlashCommand } from "./command.ts";

export const teamCommand: SlashCommand = {
  name: "team",
  type: "local",
  argument: "[name]",
  describe: "Teams that are there; how one of them stands",
  anyTime: true,
  async run(argument, { session, print }) {
    const { listTeams, showStatus } = await import("../commands/team-look.ts");
    const { data } = session.surroundings;
    const write = (text: string) => print(text.trimEnd());
    if (argument === "") await listTeams(data, false, write);
    else await showStatus(data, argument, false, write);
    return undefined;
  },
};
