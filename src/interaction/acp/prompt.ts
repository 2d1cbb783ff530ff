import { fileURLToPath } from "node:url";
import { type ContentBlock, RequestError } from "@agentclientprotocol/sdk";
import type { ImageBlock } from "../../protocol/message.ts";
import { escapeSystemTags } from "../../protocol/system-tags.ts";
import { shownPath } from "../../tools/workspace-path.ts";

export type Prompt = {
  /** What the person typed, with the names of what they point at. */
  text: string;
  /** Contents that the editor sent along. */
  attached: readonly string[];
  images: readonly ImageBlock[];
};

/** The blocks of one prompt. A link is only named: the agent reads it with its own tools, by its own permissions. */
export function readPrompt(blocks: readonly ContentBlock[], cwd: string): Prompt {
  const text: string[] = [];
  const attached: string[] = [];
  const images: ImageBlock[] = [];
  for (const block of blocks) {
    switch (block.type) {
      case "text":
        text.push(block.text);
        break;
      case "image":
        images.push({ type: "image", mediaType: block.mimeType, data: block.data });
        break;
      case "resource_link":
        text.push(placeOf(block.uri, cwd));
        break;
      case "resource": {
        const { resource } = block;
        text.push(placeOf(resource.uri, cwd));
        if ("text" in resource) attached.push(`Content of ${placeOf(resource.uri, cwd)}:\n${escapeSystemTags(resource.text)}`);
        else if (resource.mimeType?.startsWith("image/")) images.push({ type: "image", mediaType: resource.mimeType, data: resource.blob });
        else attached.push(`${placeOf(resource.uri, cwd)} is no text (${resource.mimeType ?? "unknown kind"}); its content was left out.`);
        break;
      }
      case "audio":
        throw RequestError.invalidParams(undefined, "audio is not taken: promptCapabilities says so");
    }
  }
  return { text: text.join(""), attached, images };
}

/** A file by its path, as short as it is clear; anything else by its address. */
function placeOf(uri: string, cwd: string): string {
  if (!uri.startsWith("file://")) return `\`${uri}\``;
  const [address = "", part = ""] = uri.split("#", 2);
  try {
    return `\`${shownPath(fileURLToPath(address), cwd)}${part === "" ? "" : `#${part}`}\``;
  } catch {
    // No path of this machine: its address is all there is.
    return `\`${uri}\``;
  }
}
