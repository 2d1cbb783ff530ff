import type { CallToolResult } from "@modelcontextprotocol/client";
import { ToolInputError } from "../../protocol/errors.ts";
import type { ImageBlock, TextBlock } from "../../protocol/message.ts";
import { isRecord } from "../../protocol/record.ts";
import type { Tool, ToolResult } from "../../protocol/tool.ts";
import type { RemoteTool } from "./list-tools.ts";
import { serverParts, toolNames } from "./names.ts";
import type { McpServer } from "./servers.ts";

/** `current` is the tool as its server describes it now; undefined when the server has it no more. */
export type McpTool = Tool & {
  current(): Promise<{ origin: string; name: string; description: string; inputSchema: unknown } | undefined>;
};

const IMAGE_TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

/**
 * The servers' tools. `configured` are the names of all servers, also of those that are not there: who is missing today changes nobody's
 * name, and so no rule's meaning.
 */
export function mcpTools(servers: readonly McpServer[], configured: readonly string[], maskSecrets: (text: string) => string): McpTool[] {
  const parts = serverParts(configured);
  return servers.flatMap((server) => {
    const names = toolNames(
      parts.get(server.name) ?? server.name,
      server.tools.map((tool) => tool.name),
    );
    // A name that comes twice is one tool: calls go by the name.
    const tools = new Map(server.tools.map((tool) => [tool.name, tool]));
    return [...tools.values()].map((tool) => asTool(server, tool, names.get(tool.name) ?? tool.name, maskSecrets));
  });
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
  return description ?? title ?? name;
}

function toResult(result: CallToolResult, maskSecrets: (text: string) => string): ToolResult {
  const content = result.content.map((block) => toBlock(block, maskSecrets));
  if (content.length === 0 && result.structuredContent !== undefined) {
    content.push({ type: "text", text: maskSecrets(JSON.stringify(result.structuredContent)) });
  }
  return { content, ...(result.isError ? { isError: true } : {}) };
}

function toBlock(block: CallToolResult["content"][number], maskSecrets: (text: string) => string): TextBlock | ImageBlock {
  const text = (words: string): TextBlock => ({ type: "text", text: maskSecrets(words) });
  switch (block.type) {
    case "text":
      return text(block.text);
    case "image": {
      const bytes = Math.floor((block.data.length * 3) / 4);
      if (IMAGE_TYPES.has(block.mimeType) && bytes <= MAX_IMAGE_BYTES)
        return { type: "image", mediaType: block.mimeType, data: block.data };
      return text(`[an image, ${block.mimeType}, ${bytes} bytes: can't be shown]`);
    }
    case "audio":
      return text(`[a sound, ${block.mimeType}: can't be shown]`);
    case "resource_link":
      return text(`[resource ${block.name}: ${block.uri}]`);
    case "resource":
      return text(
        "text" in block.resource
          ? `[resource ${block.resource.uri}]\n${block.resource.text}`
          : `[resource ${block.resource.uri}, ${block.resource.mimeType ?? "binary"}: can't be shown]`,
      );
  }
}
