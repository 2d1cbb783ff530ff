import { UserError } from "../../protocol/errors.ts";
import type { SlashCommand } from "./command.ts";

export const forgetCommand: SlashCommand = {
  name: "forget",
  type: "local",
  argument: "NAME",
  describe: "Remove a memory",
  anyTime: true,
  async run(argument, { session, print }) {
    if (argument === "") throw new UserError("Say which memory: /forget NAME. /memory lists them.");
    const gone = await (await session.memories()).forget(argument);
    print(gone ? `Forgot "${gone.name}".` : `There is no memory "${argument}". /memory lists them.`);
    return undefined;
  },
};
