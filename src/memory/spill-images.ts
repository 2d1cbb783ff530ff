import { join } from "node:path";
import { isUnwritable, writeAtomic } from "../platform/files.ts";
import type { ImageBlock, TextBlock, ToolUseBlock } from "../protocol/message.ts";
import type { ToolResult } from "../protocol/tool.ts";

/** For a model that sees none: the pictures of a result are files, and the model is told where. */
export async function spillImages(folder: string, call: ToolUseBlock, result: ToolResult): Promise<ToolResult> {
  if (!result.content.some((block) => block.type === "image")) return result;
  const content = await Promise.all(
    result.content.map(async (block, index): Promise<TextBlock> => {
      if (block.type === "text") return block;
      return { type: "text", text: await saved(join(folder, fileName(call, index, block)), block) };
    }),
  );
  return { ...result, content };
}

function fileName({ id }: ToolUseBlock, index: number, { mediaType }: ImageBlock): string {
  const ending = /^image\/([a-z]+)$/.exec(mediaType)?.[1] ?? "bin";
  return `${id.replace(/[^A-Za-z0-9_-]/g, "_")}-${index + 1}.${ending}`;
}

async function saved(path: string, { mediaType, data }: ImageBlock): Promise<string> {
  try {
    await writeAtomic(path, Buffer.from(data, "base64"));
    return `[A picture, ${mediaType}. You can't see pictures; it was saved to ${path}]`;
  } catch (error) {
    if (!isUnwritable(error)) throw error;
    return `[A picture, ${mediaType}. You can't see pictures; it could not be saved: ${error.message}]`;
  }
}
