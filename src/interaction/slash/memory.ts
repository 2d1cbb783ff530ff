import { memoryLines } from "../memory-words.ts";
import type { SlashCommand } from "./command.ts";

export const memoryCommand: SlashCommand = {
  name: "memory",
  type: "local",
  describe: "What is remembered from earlier sessions",
  anyTime: true,
  async run(_argument, { session, print }) {
    print(memoryLines(await (await session.memories()).list()).join("\n"));
    return undefined;
  },
};
