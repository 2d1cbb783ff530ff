import type { ImageBlock, TextBlock } from "../../protocol/message.ts";
import { escapeSystemTags } from "../../protocol/system-tags.ts";
import { readResource } from "./resources.ts";
import type { McpServer } from "./server.ts";

const MAX_MENTIONS = 10;
const MAX_CHARACTERS = 100_000;

/** `@server:uri` in what the person typed, for servers that are configured. */
export function mentionsIn(text: string, servers: readonly McpServer[]): { server: McpServer; uri: string }[] {
  const found = [...text.matchAll(/(?<![\w@])@([^\s:@]+):(\S*[^\s.,;:!?)\]}'"])/g)];
  const mentions = found.flatMap(([, name = "", uri = ""]) => {
    const server = servers.find((one) => one.name === name);
    return server ? [{ server, uri }] : [];
  });
  return mentions.filter((one, index) => mentions.findIndex(({ server, uri }) => server === one.server && uri === one.uri) === index);
}

/** The contents of the resources that are mentioned. One that can't be read is said where its content would stand. */
export async function mentionedResources(
  text: string,
  servers: readonly McpServer[],
  signal: AbortSignal,
  maskSecrets: (text: string) => string,
): Promise<(TextBlock | ImageBlock)[]> {
  const mentions = mentionsIn(text, servers).slice(0, MAX_MENTIONS);
  const read = mentions.map(async ({ server, uri }) => {
    const label = `@${server.name}:${uri}`;
    try {
      const blocks = await readResource(server, uri, { signal }, maskSecrets);
      return blocks.map((block) => (block.type === "text" ? content(label, block.text) : block));
    } catch (error) {
      return [content(label, `[can't be read: ${error instanceof Error ? error.message : String(error)}]`)];
    }
  });
  return (await Promise.all(read)).flat();
}

/** It is a server's word: data, with no voice of the system. */
function content(label: string, text: string): TextBlock {
  const cut = text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}\n[cut; ${text.length} characters in all]` : text;
  return { type: "text", text: `Content of ${label}:\n${escapeSystemTags(cut)}` };
}
