import type { CallToolResult, ReadResourceResult } from "@modelcontextprotocol/client";
import type { ImageBlock, TextBlock } from "../../protocol/message.ts";
import type { ToolResult } from "../../protocol/tool.ts";

const IMAGE_TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

/** Pictures as pictures; what is structured only where no words say the same. */
export function toResult(result: CallToolResult, maskSecrets: (text: string) => string): ToolResult {
  const content = (result.content ?? []).map((block) => contentBlock(block, maskSecrets));
  if (content.length === 0 && result.structuredContent !== undefined)
    content.push({ type: "text", text: maskSecrets(JSON.stringify(result.structuredContent)) });
  return { content, ...(result.isError ? { isError: true } : {}) };
}

export function contentBlock(block: CallToolResult["content"][number], maskSecrets: (text: string) => string): TextBlock | ImageBlock {
  const text = (words: string): TextBlock => ({ type: "text", text: maskSecrets(words) });
  switch (block.type) {
    case "text":
      return text(block.text);
    case "image":
      return imageBlock(block.mimeType, block.data);
    case "audio":
      return text(`[a sound, ${block.mimeType}: can't be shown]`);
    case "resource_link":
      return text(`[resource ${block.name}: ${block.uri}]`);
    case "resource":
      return resourceBlock(block.resource, maskSecrets);
  }
}

export function resourceBlock(
  resource: ReadResourceResult["contents"][number],
  maskSecrets: (text: string) => string,
): TextBlock | ImageBlock {
  if ("text" in resource) return { type: "text", text: maskSecrets(`[resource ${resource.uri}]\n${resource.text}`) };
  const { uri, mimeType = "binary", blob } = resource;
  if (IMAGE_TYPES.has(mimeType)) return imageBlock(mimeType, blob);
  return { type: "text", text: `[resource ${uri}, ${mimeType}, ${sizeOf(blob)} bytes: can't be shown]` };
}

function imageBlock(mediaType: string, data: string): TextBlock | ImageBlock {
  const bytes = sizeOf(data);
  if (IMAGE_TYPES.has(mediaType) && bytes <= MAX_IMAGE_BYTES) return { type: "image", mediaType, data };
  return { type: "text", text: `[an image, ${mediaType}, ${bytes} bytes: can't be shown]` };
}

function sizeOf(base64: string): number {
  return Math.floor((base64.length * 3) / 4);
}
