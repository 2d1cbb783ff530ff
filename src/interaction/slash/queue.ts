import type { SlashCommand } from "./command.ts";

export const queueCommand: SlashCommand = {
  name: "queue",
  type: "local-ui",
  argument: "[edit N text | drop N | clear]",
  describe: "What you typed while the agent works and it has not got yet",
  anyTime: true,
  async run(argument, { queue, print }) {
    const [, verb = "", number = "", text = ""] = /^(\w*)\s*(\d*)\s*([\s\S]*)$/.exec(argument) ?? [];
    if (verb === "clear") queue.clear();
    else if (verb === "drop" || (verb === "edit" && text !== "")) {
      if (!queue.replace(Number(number), verb === "drop" ? "" : text))
        print(`There is no message ${number || "without a number"} in the queue.`);
    } else if (verb !== "") print("Use /queue, /queue edit N text, /queue drop N or /queue clear.");
    const { messages } = queue;
    print(messages.length === 0 ? "Nothing waits." : messages.map((message, index) => `${index + 1}. ${message}`).join("\n"));
    return undefined;
  },
};
