import { PERMISSION_MODES } from "../../protocol/permission.ts";
import type { SlashCommand } from "./command.ts";

export const modeCommand: SlashCommand = {
  name: "mode",
  type: "local",
  argument: `[${PERMISSION_MODES.join("|")}]`,
  describe: "What needs asking; Shift+Tab takes the next one",
  anyTime: true,
  async run(argument, { session, print }) {
    const mode = PERMISSION_MODES.find((one) => one === argument);
    if (argument !== "" && !mode) print(`There is no mode "${argument}". Modes: ${PERMISSION_MODES.join(", ")}.`);
    else {
      if (mode) session.setMode(mode);
      print(`Mode ${session.mode()}.`);
    }
    return undefined;
  },
};
