import { costText } from "../../runtime/cost-text.ts";
import type { SlashCommand } from "./command.ts";

export const costCommand: SlashCommand = {
  name: "cost",
  type: "local",
  describe: "Tokens and money of this session",
  anyTime: true,
  async run(_argument, { session, print }) {
    print(costText(session.spending));
    return undefined;
  },
};
