import { type FileHandle, readdir } from "node:fs/promises";
import { isErrno } from "../../platform/files.ts";
import { openChecked } from "../../platform/open-checked.ts";
import { errorResult, type ToolContext, type ToolResult, textResult } from "../../protocol/tool.ts";
import { nothingThere, placeOf } from "../existing-file.ts";
import { digestOf, type FileState } from "../file-state.ts";
import { detectFromHead, encodingName } from "../text/encoding.ts";
import { absolutePath, shownPath } from "../workspace-path.ts";
import { kindOf } from "./kind.ts";
import { MAX_LINES } from "./limits.ts";
import { readPage } from "./page.ts";

export type ReadInput = { path: string; offset?: number | undefined; limit?: number | undefined };

const HEAD = 65_536;
const MAX_NOTEBOOK_BYTES = 64 * 1024 * 1024;
const LOOKS_LIKE_IMAGE = /\.(png|jpe?g|gif|webp)$/i;

export async function readFile(input: ReadInput, context: ToolContext, state: FileState): Promise<ToolResult> {
  const shown = shownPath(absolutePath(input.path, context.cwd), context.cwd);
  const place = await placeOf(input.path, context);
  const opened = await openOrReason(place, shown);
  if (typeof opened === "string") return errorResult(opened);
  await using file = opened;
  const stats = await file.stat();
  if (stats.isDirectory()) return errorResult(await describeFolder(place, shown));
  if (!stats.isFile()) return errorResult(`${shown} is not a regular file (a pipe, socket or device); it is not read.`);

  const page = { offset: input.offset ?? 1, limit: input.limit ?? MAX_LINES };
  const beginning = Buffer.alloc(Math.min(HEAD, stats.size));
  const head = beginning.subarray(0, (await file.read(beginning, 0, beginning.length, 0)).bytesRead);
  const kind = kindOf(head);
  if (kind?.type === "image") return await (await import("./image.ts")).readImage(file, shown, kind.mediaType);
  if (kind?.type === "pdf") return await (await import("./pdf.ts")).readPdf({ file, shown, page, signal: context.signal });
  const encoding = detectFromHead(head);
  if (encoding === "binary" || kind) {
    const what = kind ? `a ${kind.name} file` : "a binary file";
    return errorResult(`${shown} is ${what} of ${stats.size} bytes; ReadFile shows text, images, notebooks and PDF.`);
  }
  if (/\.ipynb$/i.test(place) && stats.size <= MAX_NOTEBOOK_BYTES) {
    const bytes = await file.readFile();
    const cells = (await import("./notebook.ts")).readNotebook(bytes, page);
    if (cells) {
      state.remember(place, digestOf(bytes));
      return cells;
    }
  }
  const { text, digest } = await readPage({ file, size: stats.size, head }, shown, encoding, page);
  if (digest !== undefined) state.remember(place, digest);
  return textResult(`${text}${note(encoding, place)}`);
}

function note(encoding: ReturnType<typeof detectFromHead>, place: string): string {
  const notes = [];
  if (LOOKS_LIKE_IMAGE.test(place)) notes.push("the name says image, but the content is text");
  if (encoding === "8-bit") notes.push("not UTF-8, and no encoding is named: other bytes are shown as �; for them use Bash iconv");
  else if (encoding !== "utf-8" && encoding !== "utf-8-bom") notes.push(`in ${encodingName(encoding)}; edits keep that`);
  return notes.length > 0 ? `\n[${notes.join("; ")}]` : "";
}

async function openOrReason(place: string, shown: string): Promise<FileHandle | string> {
  try {
    return await openChecked(place);
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return nothingThere(place, shown);
    // Nothing else answers so to an open: a socket, or a device without its driver.
    if (isErrno(error, "ENXIO", "ENODEV", "EOPNOTSUPP"))
      return `${shown} is not a regular file (a pipe, socket or device); it is not read.`;
    if (isErrno(error, "EACCES", "EPERM", "ENAMETOOLONG")) return `${shown} can't be read: ${error instanceof Error ? error.message : ""}`;
    throw error;
  }
}

async function describeFolder(place: string, shown: string): Promise<string> {
  const names = (await readdir(place)).sort();
  const rest = names.length > 20 ? `, … (${names.length} in all)` : "";
  return `${shown} is a folder, not a file: a directory. In it: ${names.slice(0, 20).join(", ")}${rest}. See more with Glob.`;
}
