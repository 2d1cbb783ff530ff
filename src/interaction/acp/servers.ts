import type { McpServer } from "@agentclientprotocol/sdk";
import type { GivenServers } from "../../runtime/mcp.ts";

/** The editor's servers as they would stand under `mcpServers`; what the person set up there counts as given by them. */
export function givenServers(servers: readonly McpServer[]): GivenServers | undefined {
  if (servers.length === 0) return undefined;
  return { raw: Object.fromEntries(servers.map((server) => [server.name, settingsOf(server)])), source: "the editor" };
}

function settingsOf(server: McpServer): object {
  if ("url" in server) return { type: server.type, url: server.url, headers: mapOf(server.headers) };
  return { command: server.command, args: server.args, env: mapOf(server.env) };
}

function mapOf(pairs: readonly { name: string; value: string }[]): Record<string, string> {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}
