import { ToolInputError } from "../../protocol/errors.ts";
import { isRecord } from "../../protocol/record.ts";
import type { Tool } from "../../protocol/tool.ts";
import type { RemoteTool } from "./lists.ts";
import { serverParts, toolNames } from "./names.ts";
import { toResult } from "./result.ts";
import type { McpServer } from "./server.ts";

/** `current` is the tool as its server describes it now; undefined when the server has it no more. */
export type McpTool = Tool & {
  current(): Promise<{ origin: string; name: string; description: string; inputSchema: unknown } | undefined>;
};

/** The servers' tools under the names by which models call them. */
export class McpTools {
  readonly #servers: readonly McpServer[];
  readonly #parts: Map<string, string>;
  readonly #maskSecrets: (text: string) => string;
  /** By server: what each of its tools was called first, for good. */
  readonly #names = new Map<McpServer, Map<string, string>>();
  readonly #made = new Map<McpServer, { of: readonly RemoteTool[]; tools: McpTool[] }>();

  /** `servers` are all that are configured, also those that are not there: who is missing today changes nobody's name, and so no rule's meaning. */
  constructor(servers: readonly McpServer[], maskSecrets: (text: string) => string, others: readonly string[] = []) {
    this.#servers = servers;
    this.#parts = serverParts([...servers.map(({ name }) => name), ...others]);
    this.#maskSecrets = maskSecrets;
  }

  all(): McpTool[] {
    return this.#servers.flatMap((server) => this.of(server));
  }

  of(server: McpServer): McpTool[] {
    const remote = server.lists.tools;
    const made = this.#made.get(server);
    if (made?.of === remote) return made.tools;
    const names = this.#namesOf(server, remote);
    // A name that comes twice is one tool: calls go by the name.
    const byName = new Map(remote.map((tool) => [tool.name, tool]));
    const tools = [...byName.values()].map((tool) => asTool(server, tool, names.get(tool.name) ?? tool.name, this.#maskSecrets));
    this.#made.set(server, { of: remote, tools });
    return tools;
  }

  find(name: string): McpTool | undefined {
    const server = this.serverOf(name);
    return server && this.of(server).find((tool) => tool.name === name);
  }

  /** The one that a tool of this name would belong to. */
  serverOf(name: string): McpServer | undefined {
    return this.#servers.find((server) => name.startsWith(this.prefixOf(server)));
  }

  prefixOf(server: McpServer): string {
    return `mcp__${this.#parts.get(server.name) ?? server.name}__`;
  }

  #namesOf(server: McpServer, remote: readonly RemoteTool[]): Map<string, string> {
    const known = this.#names.get(server) ?? new Map<string, string>();
    const fresh = toolNames(
      this.#parts.get(server.name) ?? server.name,
      remote.map((tool) => tool.name),
    );
    for (const [original, name] of fresh) if (!known.has(original)) known.set(original, name);
    this.#names.set(server, known);
    return known;
  }
}

function asTool(server: McpServer, remote: RemoteTool, name: string, maskSecrets: (text: string) => string): McpTool {
  const tool: Tool<Record<string, unknown>> = {
    name,
    description: describe(remote),
    // The schema as it came: a $ref points into its own $defs.
    inputSchema: remote.inputSchema,
    parse(input) {
      // The server checks the rest; it knows its schema's dialect.
      if (isRecord(input)) return input;
      throw new ToolInputError(`${name}: the input must be an object`);
    },
    access: (input) => ({ kind: "command", subject: JSON.stringify(input) }),
    isConcurrencySafe: () => false,
    async run(input, context) {
      return toResult(await server.call(remote.name, input, context), maskSecrets);
    },
  };
  // As in defineTool: `parse` is the only source of the value that the other functions get.
  const plain = tool as Tool;
  return {
    ...plain,
    async current() {
      const now = await server.current(remote.name);
      return now && { origin: server.origin, name, description: describe(now), inputSchema: now.inputSchema };
    },
  };
}

function describe({ description, title, name }: RemoteTool): string {
  return description || title || name;
}
