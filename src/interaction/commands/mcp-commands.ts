import type { Argv } from "yargs";
import { surroundingsHere } from "../surroundings-here.ts";

type Run = (command: Promise<number>) => Promise<void>;

/** One file each time it is given, so that the prompt behind it stays a prompt. */
export const MCP_CONFIG = {
  type: "string",
  array: true,
  nargs: 1,
  describe: 'File with MCP servers: {"mcpServers": {…}}',
} as const;

const write = (text: string) => process.stdout.write(text);

/** `roocode mcp …`. */
export function mcpCommands(cli: Argv, run: Run): Argv {
  return cli
    .command("list", "Servers that are configured; starts none", options, (args) =>
      run(import("./mcp.ts").then(async ({ listServers }) => listServers(await surroundingsHere(), args, write))),
    )
    .command(
      "test <server>",
      "Connect to a server, list its tools, close",
      (builder) => options(builder).positional("server", { type: "string", demandOption: true, describe: "Its name, or a URL" }),
      (args) => run(import("./mcp.ts").then(async ({ testServer }) => testServer(await surroundingsHere(), args.server, args, write))),
    )
    .demandCommand(1, "Say what to do: list or test.");
}

function options<Options>(builder: Argv<Options>) {
  return builder.option("mcp-config", MCP_CONFIG).option("json", { type: "boolean", default: false, describe: "Print JSON" });
}
