import type { Message } from "../../protocol/message.ts";
import { toolCalls } from "../../protocol/message.ts";
import { escapeSystemTags } from "../../protocol/system-tags.ts";
import { cutToTokens } from "../cut.ts";
import { estimateText } from "../tokens.ts";
import { earlierParts, type FileContent } from "./new-history.ts";

const FILE_TOOLS = new Set(["ReadFile", "EditFile", "WriteFile"]);
const IMAGE = /\.(png|jpe?g|gif|webp)$/i;
const MAX_FILES = 5;
const MAX_PATHS = 40;

/** Paths that the conversation read or changed, the last one first. */
export function touchedFiles(history: readonly Message[]): string[] {
  const paths = new Set<string>();
  for (const message of history.toReversed()) {
    if (message.role === "user") {
      for (const path of earlierParts(message)?.paths ?? []) paths.add(path);
      continue;
    }
    for (const call of toolCalls(message).toReversed())
      if (FILE_TOOLS.has(call.name) && typeof call.input.path === "string") paths.add(call.input.path);
  }
  return [...paths].slice(0, MAX_PATHS);
}

/** The last files as they are now, in the order of `paths`, within `tokens` together and `each` alone. */
export async function readFiles(
  paths: readonly string[],
  read: (path: string) => Promise<string | undefined>,
  { tokens, each }: { tokens: number; each: number },
): Promise<FileContent[]> {
  const files: FileContent[] = [];
  let left = tokens;
  for (const path of paths) {
    if (files.length === MAX_FILES) break;
    if (IMAGE.test(path)) continue;
    const whole = await read(path);
    if (whole === undefined || whole.includes("\0") || whole.trim() === "") continue;
    const text = cutToTokens(escapeSystemTags(whole), Math.min(each, left));
    if (text === "") break;
    left -= estimateText(text);
    files.push({ path, text });
  }
  return files;
}
