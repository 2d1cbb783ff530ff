import { readFile, stat } from "node:fs/promises";
import * as z from "zod";
import { isErrno, writeAtomic } from "../../platform/files.ts";
import { defineTool } from "../../protocol/define-tool.ts";
import { errorResult, type Tool, textResult } from "../../protocol/tool.ts";
import { fileDiff } from "../file-diff.ts";
import type { FileState } from "../file-state.ts";
import { detectEncoding } from "../text-bytes.ts";
import { absolutePath, realPath, shownPath } from "../workspace-path.ts";

const schema = z.object({
  path: z.string().min(1).describe("File to write: absolute, or relative to the working folder."),
  content: z.string().describe("The whole new content."),
});

export function writeFileTool(state: FileState): Tool {
  return defineTool({
    name: "WriteFile",
    description:
      "Writes a whole file, new or existing; missing folders are made. An existing file must have been read with ReadFile first, and is refused when it changed on disk since. Its line endings, BOM and mode bits are kept. To change part of a file use EditFile.",
    schema,
    access: ({ path }) => ({ kind: "write", subject: path, paths: [path] }),
    async run(input, { cwd }) {
      const path = absolutePath(input.path, cwd);
      const shown = shownPath(path, cwd);
      const target = await realPath(path);
      const before = await existing(target);
      if (before === "not-a-file") return errorResult(`${shown} is not a regular file; it is not written.`);
      if (!before) {
        await writeAtomic(target, input.content, { mode: 0o666 & ~process.umask() });
        await state.remember(target);
        return textResult(`Created ${shown} (${lineCount(input.content)} lines).`, await fileDiff(shown, "", input.content));
      }
      const status = await state.check(target);
      if (status === "unread") return errorResult(`${shown} exists and was not read yet. Read it first, then write.`);
      if (status === "changed") return errorResult(`${shown} changed on disk since it was read. Read it again, then write.`);
      const encoding = detectEncoding(before.bytes, true);
      if (encoding !== "utf-8" && encoding !== "utf-8-bom")
        return errorResult(`${shown} is not UTF-8 (${encoding}); it is not overwritten.`);

      const old = before.bytes.toString("utf8");
      const content = `${encoding === "utf-8-bom" ? "\uFEFF" : ""}${withEndingsOf(old, input.content.replace(/^\uFEFF/, ""))}`;
      await writeAtomic(target, content, { mode: before.mode });
      await state.remember(target);
      return textResult(`Wrote ${shown} (${lineCount(content)} lines).`, await fileDiff(shown, old, content));
    },
  });
}

async function existing(path: string): Promise<{ bytes: Buffer; mode: number } | "not-a-file" | undefined> {
  try {
    const found = await stat(path);
    if (!found.isFile()) return "not-a-file";
    return { bytes: await readFile(path), mode: found.mode & 0o7777 };
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** A file whose lines all end in CRLF keeps that on every line. */
function withEndingsOf(old: string, content: string): string {
  const lines = old.split("\n").length - 1;
  const crlf = old.split("\r\n").length - 1;
  if (lines === 0 || crlf !== lines) return content;
  return content.replace(/\r?\n/g, "\r\n");
}

function lineCount(text: string): number {
  return text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
}
