import { shownAddress } from "../../platform/address.ts";
import { UserError } from "../../protocol/errors.ts";
import { configuredServers, serverSurroundings } from "../../runtime/mcp.ts";
import type { Surroundings } from "../../runtime/surroundings.ts";
import { plainText } from "../../tools/bash/plain-text.ts";
import type { ConfiguredServer } from "../../tools/mcp/schema.ts";

type Output = (text: string) => void;
type Options = { json: boolean; mcpConfig?: readonly string[] | undefined };

/** Exit code 1 when one is written wrongly. */
export async function listServers(surroundings: Surroundings, { json, mcpConfig = [] }: Options, write: Output): Promise<number> {
  const { servers, problems } = await configuredServers(surroundings, mcpConfig);
  // What is in `env` and `headers` is often a secret.
  const shown = servers.map(({ name, source, config }) => ({ name, ...target(config), source }));
  if (json) write(`${JSON.stringify({ servers: shown, problems })}\n`);
  else {
    for (const { name, type, target: to, source } of shown) write(`${name}  ${type}  ${to}  (${source})\n`);
    for (const problem of problems) write(`${problem}\n`);
    if (shown.length + problems.length === 0)
      write(`No MCP servers. Put them under mcpServers in ${surroundings.data.config}, or give --mcp-config FILE.\n`);
  }
  return problems.length === 0 ? 0 : 1;
}

/** Exit code 1 when the server is not there. */
export async function testServer(surroundings: Surroundings, wanted: string, options: Options, write: Output): Promise<number> {
  const { json } = options;
  const { server, names } = await findServer(surroundings, wanted, options.mcpConfig ?? []);
  const [{ openServers }, { mcpTools }] = await Promise.all([import("../../tools/mcp/servers.ts"), import("../../tools/mcp/as-tool.ts")]);
  const started = performance.now();
  await using opened = await openServers([server], serverSurroundings(surroundings));
  const ms = Math.round(performance.now() - started);
  const found = opened.servers[0];
  if (!found) {
    const error = opened.notes.join("\n");
    write(json ? `${JSON.stringify({ name: server.name, ok: false, ms, error })}\n` : `${error}\n`);
    return 1;
  }
  const tools = mcpTools([found], names, String).map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  if (json) {
    write(`${JSON.stringify({ name: server.name, ok: true, ms, server: found.about, tools, notes: found.notes })}\n`);
    return 0;
  }
  const { name, version, protocol } = found.about;
  write(`${server.name}: ${plainText(`${name} ${version}`)}, protocol ${protocol}, ${tools.length} tools, ${ms} ms\n`);
  for (const tool of tools) write(`  ${tool.name}  ${plainText(tool.description).trim().split("\n")[0]?.slice(0, 100) ?? ""}\n`);
  for (const note of found.notes) write(`${note}\n`);
  return 0;
}

async function findServer(
  surroundings: Surroundings,
  wanted: string,
  mcpConfig: readonly string[],
): Promise<{ server: ConfiguredServer; names: string[] }> {
  const { servers, problems } = await configuredServers(surroundings, mcpConfig);
  const names = servers.map((server) => server.name);
  const server = servers.find(({ name }) => name === wanted);
  if (server) return { server, names };
  if (/^https?:\/\//.test(wanted) && URL.canParse(wanted)) {
    const { host } = new URL(wanted);
    return { server: { name: host, config: { url: wanted, headers: {} }, source: "command line" }, names: [...names, host] };
  }
  const others = names.length > 0 ? `Servers: ${names.join(", ")}.` : "None is configured.";
  throw new UserError([`There is no MCP server "${wanted}". ${others}`, ...problems].join(" "));
}

function target(config: ConfiguredServer["config"]): { type: "http" | "stdio"; target: string } {
  return "url" in config
    ? { type: "http", target: shownAddress(config.url) }
    : { type: "stdio", target: [config.command, ...config.args].join(" ") };
}
