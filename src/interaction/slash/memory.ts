import { memoryLines } from "../memory-words.ts";
import type { SlashCommand } from "./command.ts";
import { sayProblem } from "./say-problem.ts";

export const memoryCommand: SlashCommand = {
  name: "memory",
  describe: "What is remembered from earlier sessions",
  anyTime: true,
  async run(_argument, { session, print }) {
    try {
      print(memoryLines(await (await session.memories()).list()).join("\n"));
    } catch (error) {
      sayProblem(error, print);
    }
    return undefined;
  },
};
