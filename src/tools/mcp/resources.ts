import * as z from "zod";
import { defineTool } from "../../protocol/define-tool.ts";
import type { ImageBlock, TextBlock } from "../../protocol/message.ts";
import { errorResult, type Tool, textResult } from "../../protocol/tool.ts";
import { plainText } from "../bash/plain-text.ts";
import { resourceBlock } from "./result.ts";
import type { CallOptions, McpServer } from "./server.ts";

const MAX_LISTED = 200;

/** For an agent whose servers offer resources. */
export function resourceTools(servers: readonly McpServer[], maskSecrets: (text: string) => string): Tool[] {
  const find = (name: string) => servers.find((server) => server.name === name);
  const unknown = (name: string) => errorResult(`There is no MCP server "${name}". Servers: ${servers.map((one) => one.name).join(", ")}.`);
  const listSchema = z.object({ server: z.string().optional().describe("Only those of this server.") });
  const readSchema = z.object({ server: z.string().describe("Name of the server."), uri: z.string().min(1).describe("Its URI.") });
  return [
    defineTool({
      name: "ListMcpResources",
      description: `Lists the resources that MCP servers offer, with server, URI and name, and their templates; at most ${MAX_LISTED}.`,
      schema: listSchema,
      access: ({ server = "" }) => ({ kind: "other", subject: server }),
      isConcurrencySafe: () => true,
      async run({ server }) {
        if (server !== undefined && !find(server)) return unknown(server);
        const lines = servers.filter(({ name }) => server === undefined || name === server).flatMap(resourceLines);
        if (lines.length === 0) return textResult("No resources.");
        const more = lines.length > MAX_LISTED ? [`… and ${lines.length - MAX_LISTED} more; give a server.`] : [];
        return textResult([...lines.slice(0, MAX_LISTED), ...more].join("\n"));
      },
    }),
    defineTool({
      name: "ReadMcpResource",
      description: "Reads a resource of an MCP server by its URI and returns its text or picture.",
      schema: readSchema,
      access: ({ server, uri }) => ({ kind: "command", subject: `${server}:${uri}` }),
      isConcurrencySafe: () => true,
      async run({ server, uri }, { signal }) {
        const found = find(server);
        if (!found) return unknown(server);
        return { content: await readResource(found, uri, { signal }, maskSecrets) };
      },
    }),
  ];
}

export async function readResource(
  server: McpServer,
  uri: string,
  options: CallOptions,
  maskSecrets: (text: string) => string,
): Promise<(TextBlock | ImageBlock)[]> {
  const { contents } = await server.read(uri, options);
  return contents.map((one) => resourceBlock(one, maskSecrets));
}

function resourceLines({ name: server, lists: { resources, templates } }: McpServer): string[] {
  const line = (uri: string, name: string | null | undefined, about: string | null | undefined) =>
    `${server}  ${uri}${name ? `  ${name}` : ""}${about ? `: ${about}` : ""}`;
  return [
    ...resources.map(({ uri, name, description }) => line(uri, name, description)),
    ...templates.map(({ uriTemplate, name, description }) => line(`${uriTemplate} (template)`, name, description)),
  ].map((text) =>
    plainText(text)
      .replaceAll(/\s*\n\s*/g, " ")
      .slice(0, 300),
  );
}
