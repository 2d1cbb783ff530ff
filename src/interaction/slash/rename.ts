import { sessionName } from "../session-name.ts";
import type { SlashCommand } from "./command.ts";

export const renameCommand: SlashCommand = {
  name: "rename",
  type: "local",
  argument: "[name]",
  describe: "What this session is called in the list",
  anyTime: true,
  async run(argument, { session, print }) {
    const name = sessionName(argument);
    if (name !== undefined) await session.session.append({ type: "name", at: new Date().toISOString(), name });
    print(session.session.name === undefined ? "It has no name yet: /rename NAME." : `This session is called "${session.session.name}".`);
    return undefined;
  },
};
