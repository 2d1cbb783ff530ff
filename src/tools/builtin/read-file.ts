import { createReadStream } from "node:fs";
import { open, readdir, readFile, stat } from "node:fs/promises";
import { extname } from "node:path";
import * as z from "zod";
import { isErrno } from "../../platform/files.ts";
import { defineTool } from "../../protocol/define-tool.ts";
import { errorResult, type Tool, type ToolResult, textResult } from "../../protocol/tool.ts";
import type { FileState } from "../file-state.ts";
import { detectEncoding } from "../text-bytes.ts";
import { absolutePath, realPath, shownPath } from "../workspace-path.ts";

const MAX_LINES = 2_000;
const MAX_LINE_CHARACTERS = 2_000;
/** Below the size at which results are spilled: a read pages instead. */
const MAX_CHARACTERS = 28_000;
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
const IMAGE_TYPES: Record<string, string> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
};
const REFUSED_TYPES: Record<string, string> = {
  ".pdf": "PDF files can't be read yet",
  ".ipynb": "Notebooks can't be read as cells yet; use Bash with jq",
};

const schema = z.object({
  path: z.string().min(1).describe("File to read: absolute, or relative to the working folder."),
  offset: z.int().min(1).optional().describe("First line to read, from 1."),
  limit: z.int().min(1).optional().describe(`How many lines; ${MAX_LINES} unless given.`),
});

export function readFileTool(state: FileState): Tool {
  return defineTool({
    name: "ReadFile",
    description: `Reads a text file with line numbers (number, tab, line), or an image. Read a file before you edit it. Returns at most ${MAX_LINES} lines or ${MAX_CHARACTERS} characters a call and says how to read on; lines over ${MAX_LINE_CHARACTERS} characters are cut with a mark. For a folder use Glob or Bash ls.`,
    schema,
    access: ({ path }) => ({ kind: "read", subject: path, paths: [path] }),
    isConcurrencySafe: () => true,
    async run(input, { cwd }) {
      const path = absolutePath(input.path, cwd);
      const shown = shownPath(path, cwd);
      const problem = await cannotRead(path, shown);
      if (problem) return errorResult(problem);
      const refused = REFUSED_TYPES[extname(path).toLowerCase()];
      if (refused) return errorResult(`${shown}: ${refused}.`);
      const mediaType = IMAGE_TYPES[extname(path).toLowerCase()];
      if (mediaType) return readImage(path, shown, mediaType);

      const encoding = detectEncoding(await firstBytes(path, 65_536), false);
      if (encoding === "binary") return errorResult(`${shown} is a binary file; ReadFile shows text and images.`);
      if (encoding === "utf-16le" || encoding === "utf-16be") {
        return errorResult(`${shown} is encoded in UTF-16, which can't be read or edited yet. Convert it with Bash iconv if you must.`);
      }
      const page = await readPage(path, input.offset ?? 1, input.limit ?? MAX_LINES);
      await state.remember(await realPath(path));
      const note = encoding === "8-bit" ? "\n[not UTF-8: bytes that are no UTF-8 are shown as �]" : "";
      return textResult(`${page}${note}`);
    },
  });
}

async function cannotRead(path: string, shown: string): Promise<string | undefined> {
  try {
    const found = await stat(path);
    if (found.isFile()) return undefined;
    if (!found.isDirectory()) return `${shown} is not a regular file (a pipe, socket or device); it is not read.`;
    const names = (await readdir(path)).slice(0, 20);
    return `${shown} is a folder, not a file. In it: ${names.join(", ")}${names.length === 20 ? ", …" : ""}`;
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return `There is no file ${shown}.`;
    if (isErrno(error, "EACCES", "ELOOP", "ENAMETOOLONG")) return `${shown} can't be read: ${error instanceof Error ? error.message : ""}`;
    throw error;
  }
}

async function firstBytes(path: string, count: number): Promise<Uint8Array> {
  const handle = await open(path, "r");
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(count), 0, count, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

async function readImage(path: string, shown: string, mediaType: string): Promise<ToolResult> {
  const { size } = await stat(path);
  if (size > MAX_IMAGE_BYTES)
    return errorResult(`${shown} is an image of ${size} bytes; at most ${MAX_IMAGE_BYTES} can be shown. Make it smaller first.`);
  const data = await readFile(path);
  if (size === 0) return errorResult(`${shown} is empty.`);
  return { content: [{ type: "image", mediaType, data: data.toString("base64") }] };
}

/** Streams the file, so that its size does not matter; stops once the page is full. */
async function readPage(path: string, offset: number, limit: number): Promise<string> {
  const lines: string[] = [];
  let number = 0;
  let characters = 0;
  let more = false;
  for await (const { text, cut } of linesOf(path)) {
    number += 1;
    if (number < offset) continue;
    if (lines.length >= limit || characters > MAX_CHARACTERS) {
      more = true;
      break;
    }
    const line = `${String(number).padStart(6)}\t${text}${cut ? " [… line cut …]" : ""}`;
    lines.push(line);
    characters += line.length + 1;
  }
  if (number === 0) return "[the file is empty]";
  if (lines.length === 0) return `[the file has ${number} lines; offset ${offset} is behind its end]`;
  const last = offset + lines.length - 1;
  return `${lines.join("\n")}${more ? `\n[more lines follow: read on with offset ${last + 1}]` : ""}`;
}

/** Lines without their ending (\n or \r\n), a BOM taken off, each at most MAX_LINE_CHARACTERS long. */
async function* linesOf(path: string): AsyncGenerator<{ text: string; cut: boolean }> {
  const decoder = new TextDecoder("utf-8");
  let rest = "";
  let cut = false;
  const settle = (line: string) => {
    const whole = line.endsWith("\r") ? line.slice(0, -1) : line;
    const result = { text: whole.slice(0, MAX_LINE_CHARACTERS), cut: cut || whole.length > MAX_LINE_CHARACTERS };
    cut = false;
    return result;
  };
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) {
    rest += decoder.decode(chunk, { stream: true });
    for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
      yield settle(rest.slice(0, end));
      rest = rest.slice(end + 1);
    }
    if (rest.length > MAX_LINE_CHARACTERS * 4) {
      rest = rest.slice(0, MAX_LINE_CHARACTERS);
      cut = true;
    }
  }
  rest += decoder.decode();
  if (rest !== "") yield settle(rest);
}
