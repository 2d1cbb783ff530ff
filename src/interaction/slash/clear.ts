import type { SlashCommand } from "./command.ts";

export const clearCommand: SlashCommand = {
  name: "clear",
  type: "local",
  describe: "Begin a new conversation on an empty screen; the old one can be gone on with",
  run: async () => ({ open: undefined }),
};
