import type { BigIntStats } from "node:fs";
import { ChangedFileError, replaceFile } from "../platform/open-checked.ts";
import { errorResult, type ToolContext, type ToolResult, textResult } from "../protocol/tool.ts";
import { placeOf, readWhole } from "./existing-file.ts";
import { digestOf, type FileState } from "./file-state.ts";
import { detectEncoding, encodingName } from "./text/encoding.ts";
import { fileDiff } from "./text/file-diff.ts";
import { textForm } from "./text/form.ts";
import { absolutePath, shownPath } from "./workspace-path.ts";

export type WriteInput = { path: string; content: string };
type Target = { place: string; shown: string; state: FileState };

export async function writeFile(input: WriteInput, context: ToolContext, state: FileState): Promise<ToolResult> {
  const shown = shownPath(absolutePath(input.path, context.cwd), context.cwd);
  const target = { place: await placeOf(input.path, context), shown, state };
  const before = await readWhole(target.place, shown);
  if (typeof before === "string") return errorResult(`${before} It is not written.`);
  try {
    return before ? await overwrite(target, input.content, before) : await create(target, input.content);
  } catch (error) {
    if (error instanceof ChangedFileError) return errorResult(error.message);
    throw error;
  }
}

async function create({ place, shown, state }: Target, text: string): Promise<ToolResult> {
  const content = Buffer.from(text);
  await replaceFile(place, content, { mode: 0o666, before: undefined });
  state.remember(place, digestOf(content));
  return textResult(`Created ${shown} (${lineCount(text)} lines).`, await fileDiff(shown, "", text));
}

async function overwrite(
  { place, shown, state }: Target,
  text: string,
  { bytes, stats }: { bytes: Buffer; stats: BigIntStats },
): Promise<ToolResult> {
  const status = state.check(place, digestOf(bytes));
  if (status === "unread") return errorResult(`${shown} exists and was not read yet. Read it first, then write.`);
  if (status === "changed") return errorResult(`${shown} changed on disk since it was read. Read it again, then write.`);
  const encoding = detectEncoding(bytes);
  const form = textForm(bytes, encoding);
  if (!form) return errorResult(`${shown} is a binary file; it is not overwritten.`);
  const old = form.decode(form.units).replace(/^\uFEFF/, "");
  const { content: wanted, note } = withEndingsOf(old, text.replace(/^\uFEFF/, ""));
  const units = encoding === "8-bit" ? undefined : form.encode(`${encoding === "utf-8-bom" ? "\uFEFF" : ""}${wanted}`);
  if (units === undefined) {
    const way = "Convert it with Bash (iconv -f <its encoding> -t UTF-8), read it and write it then.";
    return errorResult(`${shown} is not UTF-8 (${encodingName(encoding)}), and this text has no certain bytes there. ${way}`);
  }
  const content = form.toBytes(units);
  await replaceFile(place, content, { mode: Number(stats.mode) & 0o7777, before: stats });
  state.remember(place, digestOf(content));
  return textResult(`Wrote ${shown} (${lineCount(wanted)} lines).${note}`, await fileDiff(shown, old, wanted));
}

/** A file whose lines all end in CRLF keeps that on every line; where they are mixed, what becomes of them is said. */
function withEndingsOf(old: string, content: string): { content: string; note: string } {
  const lines = old.split("\n").length - 1;
  const crlf = old.split("\r\n").length - 1;
  if (crlf === 0) return { content, note: "" };
  if (crlf === lines) return { content: content.replace(/\r?\n/g, "\r\n"), note: " Its line endings stay CRLF." };
  const now = content.includes("\r\n") ? "as given" : "LF on every line";
  return { content, note: ` Its line endings were CRLF and LF mixed; they are ${now} now. EditFile keeps each.` };
}

function lineCount(text: string): number {
  return text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
}
