import { join } from "node:path";
import { writeAtomic } from "../platform/files.ts";
import type { ToolUseBlock } from "../protocol/message.ts";
import type { ToolResult } from "../protocol/tool.ts";

const HEAD = 2_000;
const TAIL = 2_000;

/** First layer of memory: the text of a large result goes to `<folder>/<call id>.txt`, its head and tail stay, with size and path. */
export async function spill(folder: string, call: ToolUseBlock, result: ToolResult, maxCharacters: number): Promise<ToolResult> {
  const text = result.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  if (text.length <= maxCharacters) return result;
  const path = join(folder, `${call.id.replace(/[^A-Za-z0-9_-]/g, "_")}.txt`);
  await writeAtomic(path, text);
  // A command's end says more than its beginning.
  const [head, tail] = call.name === "Bash" ? [HEAD / 2, TAIL * 2] : [HEAD, TAIL];
  const lines = text.split("\n").length;
  const preview = [
    cutAtLine(text.slice(0, head)),
    `[… ${text.length} characters, ${lines} lines in all; the whole text is in ${path}: read it with ReadFile, offset and limit …]`,
    text.slice(safeStart(text, text.length - tail)),
  ].join("\n");
  const images = result.content.filter((block) => block.type === "image");
  return { ...result, content: [{ type: "text", text: preview }, ...images] };
}

function cutAtLine(head: string): string {
  const end = head.lastIndexOf("\n");
  const cut = end > 0 ? head.slice(0, end) : head;
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}

/** The next line's start, or at least not the middle of a surrogate pair. */
function safeStart(text: string, from: number): number {
  const newline = text.indexOf("\n", from);
  if (newline >= 0 && newline < from + 500) return newline + 1;
  return /[\uDC00-\uDFFF]/.test(text.charAt(from)) ? from + 1 : from;
}
