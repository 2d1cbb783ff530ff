import type { SlashCommand } from "./command.ts";

export const exitCommands: readonly SlashCommand[] = ["exit", "quit"].map((name) => ({
  name,
  type: "local",
  describe: "End the session; it can be gone on with",
  run: async () => "exit",
}));
