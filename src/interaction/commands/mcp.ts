import { shownAddress } from "../../platform/address.ts";
import { configuredServers } from "../../runtime/mcp.ts";
import type { Surroundings } from "../../runtime/surroundings.ts";
import type { ConfiguredServer } from "../../tools/mcp/schema.ts";

type Output = (text: string) => void;
type Options = { json: boolean; mcpConfig?: readonly string[] | undefined };

/** Exit code 1 when one is written wrongly. */
export async function listServers(surroundings: Surroundings, { json, mcpConfig = [] }: Options, write: Output): Promise<number> {
  const { servers, waiting, problems } = await configuredServers(surroundings, mcpConfig);
  // What is in `env` and `headers` is often a secret.
  const shown = servers.map(({ name, source, config }) => ({ name, ...target(config), source }));
  if (json) write(`${JSON.stringify({ servers: shown, waiting, problems })}\n`);
  else {
    for (const { name, type, target: to, source } of shown) write(`${name}  ${type}  ${to}  (${source})\n`);
    for (const { name, source } of waiting) write(`${name}  not accepted yet: roocode asks when it starts here  (${source})\n`);
    for (const problem of problems) write(`${problem}\n`);
    if (shown.length + waiting.length + problems.length === 0)
      write(`No MCP servers. Add one with: roocode mcp add NAME -- PROGRAM ARGUMENTS, or roocode mcp add NAME URL\n`);
  }
  return problems.length === 0 ? 0 : 1;
}

function target(config: ConfiguredServer["config"]): { type: "http" | "stdio"; target: string } {
  return "url" in config
    ? { type: "http", target: shownAddress(config.url) }
    : { type: "stdio", target: [config.command, ...config.args].join(" ") };
}
