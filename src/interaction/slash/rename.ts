import type { SlashCommand } from "./command.ts";

export const renameCommand: SlashCommand = {
  name: "rename",
  argument: "[name]",
  describe: "What this session is called in the list",
  anyTime: true,
  async run(argument, { session, print }) {
    if (argument !== "") await session.session.append({ type: "name", at: new Date().toISOString(), name: argument });
    print(session.session.name === undefined ? "It has no name yet: /rename NAME." : `This session is called "${session.session.name}".`);
    return undefined;
  },
};
