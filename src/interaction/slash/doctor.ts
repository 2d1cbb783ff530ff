import type { SlashCommand } from "./command.ts";

export const doctorCommand: SlashCommand = {
  name: "doctor",
  type: "local",
  describe: "Look whether all that RooCode needs is there, and how to mend what is not",
  anyTime: true,
  async run(_argument, { session, print }) {
    const [{ examine }, { checkLine }] = await Promise.all([import("../../runtime/doctor/doctor.ts"), import("../commands/check-line.ts")]);
    print((await examine(session.surroundings, { offline: false })).map(checkLine).join("\n"));
    return undefined;
  },
};
