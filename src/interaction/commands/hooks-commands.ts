import type { Argv } from "yargs";
import { globalFlags } from "../global-flags.ts";
import { writeOut } from "../lost-output.ts";
import { surroundingsHere } from "../surroundings-here.ts";

type Run = (command: Promise<number>) => Promise<void>;

const JSON_FLAG = { type: "boolean", default: false, describe: "Print JSON" } as const;

/** `roocode hooks …`. */
export function hooksCommands(cli: Argv, run: Run): Argv {
  return cli
    .command(
      "list",
      "Hooks of the settings, in the order in which they run",
      (list) => list.option("json", JSON_FLAG),
      (args) =>
        run(import("./hooks.ts").then(async ({ listHooks }) => listHooks(await surroundingsHere(globalFlags(args)), args, writeOut))),
    )
    .command(
      "test <event>",
      "Fire one event with a sample of what it carries; shows which hooks run and what they say",
      (test) =>
        test
          .positional("event", { type: "string", demandOption: true, describe: "For example pre_tool_use" })
          .option("tool", { type: "string", describe: "The tool of the call" })
          .option("input", { type: "string", describe: "The call's input as JSON" })
          .option("fields", { type: "string", describe: "Other fields of the event as JSON" })
          .option("dry-run", { type: "boolean", default: false, describe: "Only say which hooks would run" })
          .option("json", JSON_FLAG),
      (args) => run(import("./hooks.ts").then(async ({ testHook }) => testHook(await surroundingsHere(globalFlags(args)), args, writeOut))),
    )
    .demandCommand(1, "Say what to do: list or test.");
}

/** `roocode import …`. */
export function importCommands(cli: Argv, run: Run): Argv {
  return cli
    .command(
      "claude",
      "Hooks and permission rules of Claude Code's settings into those of RooCode",
      (builder) => builder.option("dry-run", { type: "boolean", default: false, describe: "Write nothing" }).option("json", JSON_FLAG),
      (args) =>
        run(
          import("./hooks.ts").then(async ({ importCommand }) => importCommand(await surroundingsHere(globalFlags(args)), args, writeOut)),
        ),
    )
    .demandCommand(1, "Say from where: claude.");
}
