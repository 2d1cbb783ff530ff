import { maskSecrets } from "../../safety/secrets.ts";
import type { SlashCommand } from "./command.ts";

const HOW_TO =
  "A line in one of these files changes a setting, from the next start on (docs/configuration.md). /model, /mode and /theme change theirs now.";

export const configCommand: SlashCommand = {
  name: "config",
  type: "local",
  argument: "[word]",
  describe: "Settings in force, where each comes from, and how to change them",
  anyTime: true,
  async run(argument, { session, print }) {
    const [{ configReport }, { configText }, { readSurroundings }] = await Promise.all([
      import("../../runtime/config-report.ts"),
      import("../config-text.ts"),
      import("../../runtime/surroundings.ts"),
    ]);
    const { cwd, env, flags } = session.surroundings;
    // As the files are now: they may have been changed since the start.
    const text = maskSecrets(configText(await configReport(await readSurroundings(cwd, env, flags))));
    const lines = text.split("\n").filter((line) => line.toLowerCase().includes(argument.toLowerCase()));
    if (argument !== "" && lines.length === 0) print(`Nothing in the settings has "${argument}" in it. /config shows them all.`);
    else print(argument === "" ? `${text}\n\n${HOW_TO}` : lines.join("\n"));
    return undefined;
  },
};
