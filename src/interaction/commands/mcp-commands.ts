import type { Argv } from "yargs";
import { writeOut } from "../lost-output.ts";
import { surroundingsHere } from "../surroundings-here.ts";
import { SCOPES } from "./mcp-scopes.ts";

type Run = (command: Promise<number>) => Promise<void>;

/** One file each time it is given, so that the prompt behind it stays a prompt. */
export const MCP_CONFIG = {
  type: "string",
  array: true,
  nargs: 1,
  describe: 'File with MCP servers: {"mcpServers": {…}}',
} as const;

const say = (text: string) => void process.stderr.write(`${text}\n`);

/** `roocode mcp …`. What stands behind `--` belongs to the program that is added, whatever it looks like. */
export function mcpCommands(cli: Argv, run: Run, behind: readonly string[]): Argv {
  return cli
    .command("list", "Servers that are configured; starts none", options, (args) =>
      run(import("./mcp.ts").then(async ({ listServers }) => listServers(await surroundingsHere(), args, writeOut))),
    )
    .command(
      "test <server>",
      "Connect to a server, list its tools, call some, close; signs in where that is needed",
      (builder) =>
        options(builder)
          .positional("server", { type: "string", demandOption: true, describe: "Its name, or a URL" })
          .option("call", { type: "string", array: true, nargs: 1, describe: 'Call a tool: \'{"name": …, "arguments": {…}}\'' })
          .option("call-all", { type: "boolean", describe: "Call every tool without arguments" })
          .option("read-all", { type: "boolean", describe: "Read the first resource and the first prompt" })
          .option("elicit", { choices: ["accept", "decline", "cancel"] as const, describe: "How its questions are answered" })
          .option("client-id", { type: "string", describe: "Of a client that is registered with it" })
          .option("client-secret", { type: "string", describe: "Of the same" })
          .option("client-metadata-url", { type: "string", describe: "Where this client is described" })
          .option("protocol", { choices: ["auto", "legacy"] as const, describe: "How its revision is found" }),
      (args) =>
        run(
          import("./mcp-test.ts").then(async ({ testServer }) =>
            testServer(await surroundingsHere(), args.server, args, { write: writeOut, say }),
          ),
        ),
    )
    .command(
      "add <name> [target..]",
      "Write a server down: a URL, or a program and its arguments behind --",
      (builder) =>
        builder
          .positional("name", { type: "string", demandOption: true, describe: "What it is called here" })
          .positional("target", { type: "string", array: true, default: [], describe: "URL, or program and arguments" })
          .option("scope", {
            choices: SCOPES,
            default: "user" as const,
            alias: "s",
            describe: "Your settings, yours for this project, or the project's .mcp.json",
          })
          .option("env", {
            type: "string",
            alias: "e",
            array: true,
            nargs: 1,
            describe: "NAME=value for a program; '${NAME}' is filled in at its start",
          })
          .option("header", { type: "string", alias: "H", array: true, nargs: 1, describe: "'Name: value' for a URL" })
          .option("transport", {
            choices: ["stdio", "http", "sse"] as const,
            alias: "t",
            describe: "Where it can't be told from the target",
          })
          .option("required", { type: "boolean", describe: "The first request waits for it" })
          .option("client-id", { type: "string", describe: "Of a client that is registered with it" }),
      (args) =>
        run(
          import("./mcp-edit.ts").then(async ({ addServer }) =>
            addServer(await surroundingsHere(), args.name, { ...args, target: [...args.target, ...behind] }, { write: writeOut, say }),
          ),
        ),
    )
    .command(
      "remove <name>",
      "Take a server out of the settings",
      (builder) =>
        builder
          .positional("name", { type: "string", demandOption: true })
          .option("scope", { choices: SCOPES, alias: "s", describe: "Only there; otherwise the first that has it" }),
      (args) =>
        run(
          import("./mcp-edit.ts").then(async ({ removeServer }) =>
            removeServer(await surroundingsHere(), args.name, args.scope, { write: writeOut, say }),
          ),
        ),
    )
    .demandCommand(1, "Say what to do: list, test, add or remove.");
}

function options<Options>(builder: Argv<Options>) {
  return builder.option("mcp-config", MCP_CONFIG).option("json", { type: "boolean", default: false, describe: "Print JSON" });
}
