import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import type { ToolContext } from "../../src/protocol/tool.ts";
import { McpTools } from "../../src/tools/mcp/as-tool.ts";
import type { ServerSurroundings } from "../../src/tools/mcp/connection.ts";
import { McpHost } from "../../src/tools/mcp/host.ts";
import { type ConfiguredServer, readServers } from "../../src/tools/mcp/schema.ts";
import type { McpServer } from "../../src/tools/mcp/server.ts";

const MCP_SERVER = decodeURIComponent(new URL("mcp-server.mjs", import.meta.url).pathname);
const ODD_SERVER = decodeURIComponent(new URL("mcp-odd-server.mjs", import.meta.url).pathname);

/** The test's server with one of its faults, as a person would configure it. */
export function stdioServer(kind = "good", more: Record<string, unknown> = {}) {
  return { command: process.execPath, args: [MCP_SERVER, kind], ...more };
}

/** One of the odd servers. */
export function oddServer(kind: string, argument: string | number = "", more: Record<string, unknown> = {}) {
  return { command: process.execPath, args: [ODD_SERVER, kind, String(argument)], ...more };
}

export function configured(servers: Record<string, unknown>): ConfiguredServer[] {
  return readServers(servers, "test settings").servers;
}

/** Servers whose first start is over, and what was said to the person by then. */
export type TestServers = AsyncDisposable & { host: McpHost; servers: McpServer[]; notes: string[]; tools: McpTools };

export async function openTestServers(servers: Record<string, unknown>, more: Partial<ServerSurroundings> = {}): Promise<TestServers> {
  const env = { PATH: process.env.PATH, HOME: tmpdir() };
  const notes: string[] = [];
  const surroundings = { cwd: tmpdir(), env, version: "test", maskSecrets: String, ...more };
  const host = new McpHost(configured(servers), surroundings, { onNotice: (text) => notes.push(text) });
  await host.settled(host.servers, 30_000, new AbortController().signal);
  return {
    host,
    servers: host.servers.filter((server) => server.state === "connected"),
    notes,
    tools: new McpTools(host.servers, String),
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

export function toolsOf({ tools }: TestServers) {
  return new Map(tools.all().map((tool) => [tool.name, tool]));
}

/** Runs one of the servers' tools as the loop would. */
export async function callTool(opened: TestServers, name: string, input: unknown, signal = new AbortController().signal) {
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
