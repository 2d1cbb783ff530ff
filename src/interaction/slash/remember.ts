import type { SlashCommand } from "./command.ts";

export const rememberCommand: SlashCommand = {
  name: "remember",
  type: "local",
  argument: "[[user:|feedback:|project:|reference:] text]",
  describe: "Keep a note for later sessions; without a text, look through the last turn",
  anyTime: true,
  async run(argument, { session, print, signal }) {
    if (argument !== "") {
      const { memoryOf } = await import("../memory-words.ts");
      const { memory, isUpdate } = await (await session.memories()).remember(memoryOf(argument));
      print(`${isUpdate ? "Remembered anew" : "Remembered"}: ${memory.path}`);
    } else if (session.learner) {
      const done = await session.learner.now(signal);
      print(done.length > 0 ? done.join("\n") : "Nothing of the last turn is worth a memory.");
    } else print("Say what to remember: /remember we deploy on Fridays.");
    return undefined;
  },
};
