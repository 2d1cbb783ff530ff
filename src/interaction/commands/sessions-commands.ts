import type { Argv } from "yargs";

type Run = (command: Promise<number>) => Promise<void>;
const load = () => import("./sessions.ts");
const ID = { type: "string", demandOption: true, describe: "Its id, or a beginning of it that no other has" } as const;

/** `roocode sessions …`. */
export function sessionsCommands(cli: Argv, run: Run): Argv {
  return cli
    .command("list", "Sessions of this project, the last one first", json, (args) => run(load().then(({ list }) => list(args))))
    .command(
      "show <id>",
      "What a session is about, and its conversation",
      (builder) => json(builder).positional("id", ID),
      (args) => run(load().then(({ show }) => show(args))),
    )
    .command(
      "rename <id> <name..>",
      "Give a session a name",
      (builder) => json(builder).positional("id", ID).positional("name", { type: "string", array: true, demandOption: true }),
      (args) => run(load().then(({ rename }) => rename({ ...args, name: args.name.join(" ") }))),
    )
    .command(
      "fork <id>",
      "Copy a session under a new id; go on with it by --resume",
      (builder) => json(builder).positional("id", ID).option("name", { type: "string", describe: "Name of the copy" }),
      (args) => run(load().then(({ fork }) => fork(args))),
    )
    .command(
      "export <id>",
      "The conversation as Markdown or as one HTML page",
      (builder) =>
        json(builder)
          .positional("id", ID)
          .option("format", { choices: ["md", "html"] as const, default: "md" as const, describe: "What to write" })
          .option("output", { type: "string", describe: "A new file to write to; standard output unless given" }),
      (args) => run(load().then(({ exportSession }) => exportSession(args))),
    )
    .command(
      "search <text..>",
      "Where a text stands in the sessions of this project, whatever its case",
      (builder) => json(builder).positional("text", { type: "string", array: true, demandOption: true }),
      (args) => run(load().then(({ search }) => search({ ...args, text: args.text.join(" ") }))),
    )
    .command(
      "prune",
      "Remove old sessions with their large results; none that is open in a process",
      (builder) =>
        json(builder)
          .option("older-than", { type: "string", demandOption: true, describe: "Age of the last entry, as 12h, 30d or 8w" })
          .option("dry-run", { type: "boolean", default: false, describe: "Only say what would be removed" }),
      (args) => run(load().then(({ prune }) => prune(args))),
    )
    .demandCommand(1, "Say what to do: list, show, rename, fork, export, search or prune.");
}

function json<Options>(builder: Argv<Options>) {
  return builder.option("json", { type: "boolean", default: false, describe: "Print JSON" });
}
