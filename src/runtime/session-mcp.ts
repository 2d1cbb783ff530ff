import type { Message } from "../protocol/message.ts";
import type { Tool } from "../protocol/tool.ts";
import { maskSecrets } from "../safety/secrets.ts";
import type { DeferredTools } from "../tools/builtin/tool-search.ts";
import { McpTools } from "../tools/mcp/as-tool.ts";
import type { ServerSurroundings } from "../tools/mcp/connection.ts";
import { McpHost } from "../tools/mcp/host.ts";
import { mentionedResources, mentionsIn } from "../tools/mcp/mentions.ts";
import { expandMcpPrompt, listMcpPrompts } from "../tools/mcp/prompts.ts";
import { resourceTools } from "../tools/mcp/resources.ts";
import type { ConfiguredServer } from "../tools/mcp/schema.ts";
import type { McpServer } from "../tools/mcp/server.ts";
import type { AgentMcp, SessionMcp, ToolLoadingKind } from "./agent-mcp.ts";
import type { AgentTools } from "./agent-tools.ts";
import { appendedTools, proxiedTools } from "./deferred-tools.ts";
import { foreignTools } from "./foreign-tools.ts";
import { McpNews } from "./mcp-news.ts";

/** How long the first request waits for servers that are marked `required`. */
const REQUIRED_MS = 10_000;
/** How long a search or a call waits for a server that is still starting. */
const SEARCH_MS = 10_000;

export type SessionMcpOptions = {
  configured: readonly ConfiguredServer[];
  surroundings: ServerSurroundings;
  trustStore: string;
  loading: ToolLoadingKind;
  onNotice: (text: string) => void;
};

/** The servers of this process and all that its agents see of them. Loaded with the first server. */
export function openSessionMcp({ configured, surroundings, trustStore, loading, onNotice }: SessionMcpOptions): SessionMcp {
  const host = new McpHost(configured, surroundings, { onNotice });
  const { servers } = host;
  const tools = new McpTools(servers, maskSecrets);
  const resources = resourceTools(servers, maskSecrets);
  const hasResources = () => servers.some(({ lists }) => lists.resources.length + lists.templates.length > 0);
  const starting = () => servers.filter((server) => server.state === "starting");
  const deferred: DeferredTools = {
    all: () => [...tools.all(), ...(hasResources() ? resources : [])],
    starting: () => starting().map(({ name }) => name),
    async settled(tool, signal) {
      const own = tool === undefined ? undefined : tools.serverOf(tool);
      const wanted = tool === undefined ? starting() : own && own.state === "starting" ? [own] : [];
      if (wanted.length > 0) await host.settled(wanted, SEARCH_MS, signal);
    },
    missing: (name) => whyMissing(name, tools),
  };

  const howTo = `Find them with ToolSearch before you ${loading === "proxy" ? "call them with UseTool" : "call them"}.`;

  const agent: SessionMcp["agent"] = ({ addTools, sent }): AgentMcp => {
    let isResultFull = false;
    const add: AgentTools["add"] = (found, isDeferred) => {
      const fresh = addTools(found, isDeferred);
      isResultFull ||= isDeferred === true && fresh.length > 0;
      return fresh;
    };
    const ways = loading === "proxy" ? proxiedTools(deferred) : appendedTools(deferred, add, loading === "native");
    const news = new McpNews({ servers, tools, sent, howTo });
    const direct = (server: McpServer): readonly Tool[] => (server.configured.config.deferred === false ? tools.of(server) : []);
    const stop = host.onChange((server) => {
      addTools(direct(server));
      news.stir();
    });
    return {
      tools: [...ways.tools, ...servers.flatMap(direct)],
      resolve: ways.resolve,
      news(history: readonly Message[]) {
        // A result that names tools natively has no room for words; they are as good a round later.
        if (!isResultFull) return news.take(history);
        isResultFull = false;
        return undefined;
      },
      all: () => news.all(),
      wentBack: () => news.wentBack(),
      [Symbol.dispose]: () => void stop(),
    };
  };

  return {
    agent,
    reminder: () => new McpNews({ servers, tools, sent: () => undefined, howTo }).take([]),
    foreignTools: foreignTools((name) => tools.find(name), trustStore),
    status: () => servers.map((server) => ({ name: server.name, status: statusOf(server) })),
    async ready(signal) {
      const required = servers.filter(({ configured: { config } }) => config.required);
      if (required.length > 0) await host.settled(required, REQUIRED_MS, signal);
    },
    async mentions(text, signal) {
      const wanted = mentionsIn(text, servers).map(({ server }) => server);
      await host.settled(wanted, SEARCH_MS, signal);
      return mentionedResources(text, servers, signal, maskSecrets);
    },
    prompts: () => listMcpPrompts(servers, tools),
    async expandPrompt(name, argument, signal) {
      const server = tools.serverOf(name);
      if (server?.state === "starting") await host.settled([server], SEARCH_MS, signal);
      return expandMcpPrompt(name, argument, servers, tools, maskSecrets, signal);
    },
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

function statusOf({ state, needsSignIn }: McpServer): ReturnType<SessionMcp["status"]>[number]["status"] {
  if (state === "connected") return "connected";
  if (state === "starting") return "pending";
  return needsSignIn ? "needs-auth" : "failed";
}

function whyMissing(name: string, tools: McpTools): string | undefined {
  const server = tools.serverOf(name);
  if (!server) return undefined;
  if (server.state === "starting") return `The MCP server "${server.name}" is still starting; try again later.`;
  if (server.state !== "connected" && server.lists.tools.length === 0) return `The MCP server "${server.name}" is not there.`;
  return `"${name}" is no longer offered by the MCP server "${server.name}". Find its tools with ToolSearch.`;
}
