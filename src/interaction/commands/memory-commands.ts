import type { Argv } from "yargs";

type Run = (command: Promise<number>) => Promise<void>;
const load = () => import("./memory.ts");
const NAME = { type: "string", array: true, demandOption: true, describe: "Its name, or that of its file" } as const;

/** `roocode memory …`. */
export function memoryCommands(cli: Argv, run: Run): Argv {
  return cli
    .command("list", "What is remembered of you and of this project", json, (args) => run(load().then(({ list }) => list(args))))
    .command(
      "show <name..>",
      "One memory",
      (builder) => json(builder).positional("name", NAME),
      (args) => run(load().then(({ show }) => show({ ...args, name: args.name.join(" ") }))),
    )
    .command(
      "forget <name..>",
      "Remove a memory",
      (builder) => json(builder).positional("name", NAME),
      (args) => run(load().then(({ forget }) => forget({ ...args, name: args.name.join(" ") }))),
    )
    .demandCommand(1, "Say what to do: list, show or forget.");
}

function json<Options>(builder: Argv<Options>) {
  return builder.option("json", { type: "boolean", default: false, describe: "Print JSON" });
}
