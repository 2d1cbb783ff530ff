import type { Argv } from "yargs";
import { readSurroundings, type Surroundings } from "../../runtime/surroundings.ts";

type Run = (command: Promise<number>) => Promise<void>;

/** One file each time it is given, so that the prompt behind it stays a prompt. */
export const MCP_CONFIG = {
  type: "string",
  array: true,
  nargs: 1,
  describe: 'File with MCP servers: {"mcpServers": {…}}',
} as const;

const write = (text: string) => void process.stdout.write(text);
const say = (text: string) => void process.stderr.write(`${text}\n`);
async function here(): Promise<Surroundings> {
  const surroundings = await readSurroundings(process.cwd(), process.env, {});
  for (const warning of surroundings.warnings) process.stderr.write(`${warning}\n`);
  return surroundings;
}

/** `roocode mcp …`. */
export function mcpCommands(cli: Argv, run: Run): Argv {
  return cli
    .command("list", "Servers that are configured; starts none", options, (args) =>
      run(import("./mcp.ts").then(async ({ listServers }) => listServers(await here(), args, write))),
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
      (args) => run(import("./mcp-test.ts").then(async ({ testServer }) => testServer(await here(), args.server, args, { write, say }))),
    )
    .demandCommand(1, "Say what to do: list or test.");
}

function options<Options>(builder: Argv<Options>) {
  return builder.option("mcp-config", MCP_CONFIG).option("json", { type: "boolean", default: false, describe: "Print JSON" });
}
