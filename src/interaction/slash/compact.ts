import type { SlashCommand } from "./command.ts";

export const compactCommand: SlashCommand = {
  name: "compact",
  type: "local",
  argument: "[focus]",
  describe: "Put a summary in the place of the conversation so far",
  async run(argument, { session, show, signal }) {
    for await (const event of session.agent.compact(argument === "" ? undefined : argument, signal)) show(event);
    return undefined;
  },
};
