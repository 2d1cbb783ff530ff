import type { SlashCommand } from "./command.ts";

export const modelCommand: SlashCommand = {
  name: "model",
  type: "local",
  argument: "[[provider/]id]",
  describe: "Which model answers; another one goes on with the same conversation",
  async run(argument, { session, print }) {
    const notice = argument === "" ? undefined : session.useModel(argument).notice;
    print(`Model ${session.model()}.${notice ? ` ${notice}` : ""}`);
    return undefined;
  },
};
