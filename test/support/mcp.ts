import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import type { ToolContext } from "../../src/protocol/tool.ts";
import { mcpTools } from "../../src/tools/mcp/as-tool.ts";
import { type ConfiguredServer, readServers } from "../../src/tools/mcp/schema.ts";
import { type McpServers, openServers, type ServerSurroundings } from "../../src/tools/mcp/servers.ts";

const MCP_SERVER = decodeURIComponent(new URL("mcp-server.mjs", import.meta.url).pathname);

/** The test's server with one of its faults, as a person would configure it. */
export function stdioServer(kind = "good", more: Record<string, unknown> = {}) {
  return { command: process.execPath, args: [MCP_SERVER, kind], ...more };
}

export function configured(servers: Record<string, unknown>): ConfiguredServer[] {
  return readServers(servers, "test settings").servers;
}

export function openTestServers(servers: Record<string, unknown>, more: Partial<ServerSurroundings> = {}): Promise<McpServers> {
  const env = { PATH: process.env.PATH, HOME: tmpdir() };
  return openServers(configured(servers), { cwd: tmpdir(), env, version: "test", maskSecrets: String, ...more });
}

export function toolsOf({ servers }: McpServers) {
  const tools = mcpTools(
    servers,
    servers.map((server) => server.name),
    String,
  );
  return new Map(tools.map((tool) => [tool.name, tool]));
}

/** Runs one of the servers' tools as the loop would. */
export async function callTool(opened: McpServers, name: string, input: unknown, signal = new AbortController().signal) {
  const tool = toolsOf(opened).get(name);
  if (!tool) throw new Error(`There is no tool ${name}.`);
  const context: ToolContext = { cwd: tmpdir(), callId: "call-1", signal, progress: () => undefined };
  return tool.run(tool.parse(input), context);
}

/** The test's server over streamable HTTP; with a token, only requests that carry it as x-token are served. */
export async function httpServer(token = ""): Promise<{ url: string } & AsyncDisposable> {
  const child = spawn(process.execPath, [MCP_SERVER, "http", token], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(child.stdout.setEncoding("utf8"), "data");
  return {
    url: String(line).trim(),
    async [Symbol.asyncDispose]() {
      const exited = once(child, "exit");
      child.kill();
      await exited;
    },
  };
}
