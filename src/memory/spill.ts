import { join } from "node:path";
import { isUnwritable, writeAtomic } from "../platform/files.ts";
import type { ToolUseBlock } from "../protocol/message.ts";
import { resultText, type ToolResult } from "../protocol/tool.ts";
import { headOf, tailOf } from "./cut.ts";

const MAX_LINES = 2_000;
const HEAD = 2_000;
const TAIL = 2_000;

/**
 * First layer of memory: the text of a large result goes to `<folder>/<call id>.txt`; its head and tail stay, with size and
 * path, in no more than `maxCharacters`.
 */
export async function spill(folder: string, call: ToolUseBlock, result: ToolResult, maxCharacters: number): Promise<ToolResult> {
  const text = resultText(result);
  const lines = countLines(text);
  // ReadFile pages by itself: a read of just that many lines is no large result.
  if (text.length <= maxCharacters && (lines <= MAX_LINES || call.name === "ReadFile")) return result;
  const path = join(folder, `${call.id.replace(/[^A-Za-z0-9_-]/g, "_")}.txt`);
  const where = await writeAtomic(path, text).then(() => `the whole text is in ${path}: read it with ReadFile, offset and limit`, notSaved);
  const note = `[… ${text.length} characters, ${lines} lines in all; ${where} …]`;
  const images = result.content.filter((block) => block.type === "image");
  return { ...result, content: [{ type: "text", text: preview(text, note, call.name, maxCharacters) }, ...images] };
}

/** The call has been made: its result must not be lost with the disk. */
function notSaved(error: unknown): string {
  if (!isUnwritable(error)) throw error;
  return `the rest could not be saved (${error.message}), so ask for less at once`;
}

function preview(text: string, note: string, tool: string, maxCharacters: number): string {
  // A command's end says more than its beginning.
  const [head, tail] = tool === "Bash" ? [HEAD / 2, TAIL * 2] : [HEAD, TAIL];
  const room = Math.max(0, maxCharacters - note.length - 2);
  // Many short lines may be fewer characters than head and tail together, which must not overlap.
  const scale = Math.min(1, Math.min(room, text.length) / (head + tail));
  return `${headOf(text, Math.floor(head * scale))}\n${note}\n${tailOf(text, Math.floor(tail * scale))}`;
}

function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}
