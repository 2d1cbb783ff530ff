import type { Argv } from "yargs";
import { globalFlags } from "../global-flags.ts";
import { writeOut } from "../lost-output.ts";

type Run = (command: Promise<number>) => Promise<void>;

const options = (builder: Argv) =>
  builder
    .option("json", { type: "boolean", default: false, describe: "Print JSON" })
    .option("dir", { type: "string", describe: "Look in this folder instead" });

/** `roocode skills …`. */
export function skillsCommands(cli: Argv, run: Run): Argv {
  return cli
    .command("list", "Every file that may be a skill, and what became of it", options, (args) =>
      run(import("./skills.ts").then(({ listSkills }) => listSkills({ ...args, ...globalFlags(args) }, writeOut))),
    )
    .command("check", "Only files that break a rule, with the line; exit code 1 when one can't be used", options, (args) =>
      run(import("./skills.ts").then(({ checkSkills }) => checkSkills({ ...args, ...globalFlags(args) }, writeOut))),
    )
    .demandCommand(1, "Say what to do: list or check.");
}

/** `roocode commands …`. */
export function commandFilesCommands(cli: Argv, run: Run): Argv {
  return cli
    .command("list", "Every file of a slash command, and what became of it", options, (args) =>
      run(import("./skills.ts").then(({ listCommands }) => listCommands({ ...args, ...globalFlags(args) }, writeOut))),
    )
    .demandCommand(1, "Say what to do: list.");
}
