import { readFile, stat } from "node:fs/promises";
import * as z from "zod";
import { isErrno, writeAtomic } from "../../platform/files.ts";
import { defineTool } from "../../protocol/define-tool.ts";
import { unescapeSystemTags } from "../../protocol/system-tags.ts";
import { errorResult, type Tool, textResult } from "../../protocol/tool.ts";
import { fileDiff } from "../file-diff.ts";
import type { FileState } from "../file-state.ts";
import { findMatches, withEndings } from "../splice.ts";
import { detectEncoding, fromByteString, toByteString } from "../text-bytes.ts";
import { absolutePath, realPath, shownPath } from "../workspace-path.ts";

const MAX_BYTES = 64 * 1024 * 1024;

const edit = {
  old_string: z.string().describe("Text to replace, exactly as it stands in the file, without line numbers."),
  new_string: z.string().describe("Text to put in its place."),
  replace_all: z.boolean().optional().describe("Replace every occurrence; otherwise old_string must occur exactly once."),
};
const schema = z.object({
  path: z.string().min(1).describe("File to edit: absolute, or relative to the working folder."),
  old_string: edit.old_string.optional(),
  new_string: edit.new_string.optional(),
  replace_all: edit.replace_all,
  edits: z.array(z.object(edit)).optional().describe("Several edits instead of one, applied in order, all or none."),
});
type Edit = { old_string: string; new_string: string; replace_all?: boolean | undefined };

export function editFileTool(state: FileState): Tool {
  return defineTool({
    name: "EditFile",
    description:
      "Replaces exact text in a file that was read before. Give old_string and new_string, or several in edits (all or none). old_string must be unique unless replace_all is set; take in neighbouring lines to make it so. Bytes around the edit stay as they are: encoding, BOM, line endings, final newline, mode. Refused when the file changed on disk since it was read.",
    schema,
    access: ({ path }) => ({ kind: "write", subject: path, paths: [path] }),
    async run(input, { cwd }) {
      const path = absolutePath(input.path, cwd);
      const shown = shownPath(path, cwd);
      const edits = collectEdits(input);
      if (typeof edits === "string") return errorResult(edits);

      const target = await realPath(path);
      const found = await stat(target).catch((error: unknown) => {
        if (isErrno(error, "ENOENT", "ENOTDIR")) return undefined;
        throw error;
      });
      if (!found) return errorResult(`There is no file ${shown}. Use WriteFile for a new file.`);
      if (!found.isFile()) return errorResult(`${shown} is not a regular file; it is not edited.`);
      if (found.size > MAX_BYTES)
        return errorResult(`${shown} has ${found.size} bytes; EditFile takes at most ${MAX_BYTES}. Use Bash, for example sed.`);
      const status = await state.check(target);
      if (status === "unread") return errorResult(`${shown} was not read yet. Read it first, then edit.`);
      if (status === "changed") return errorResult(`${shown} changed on disk since it was read. Read it again, then edit.`);

      const bytes = await readFile(target);
      const encoding = detectEncoding(bytes, true);
      if (encoding === "binary" || encoding === "utf-16le" || encoding === "utf-16be") {
        return errorResult(`${shown} is ${encoding === "binary" ? "a binary file" : "encoded in UTF-16"}, which can't be edited yet.`);
      }
      if (encoding === "8-bit" && edits.some((one) => /[^\x00-\x7f]/.test(one.old_string + one.new_string))) {
        return errorResult(`${shown} is not UTF-8; only edits in plain ASCII keep its other bytes intact.`);
      }
      const before = bytes.toString("latin1");
      const after = applyEdits(before, edits, shown);
      if (typeof after !== "string") return errorResult(after.problem);
      if (after === before) return errorResult(`${shown}: old and new text are the same, so nothing changed.`);

      await writeAtomic(target, fromByteString(after), { mode: found.mode & 0o7777 });
      await state.remember(target);
      const diff = await fileDiff(shown, bytes.toString("utf8"), fromByteString(after).toString("utf8"));
      return textResult(`Edited ${shown}.\n${diff.type === "diff" ? diff.patch.slice(0, 4_000) : ""}`.trimEnd(), diff);
    },
  });
}

function collectEdits(input: z.output<typeof schema>): Edit[] | string {
  const single = input.old_string !== undefined || input.new_string !== undefined;
  if (single && input.edits) return "Give either old_string and new_string, or edits, not both.";
  if (input.edits && input.edits.length > 0) return input.edits;
  if (input.old_string === undefined || input.new_string === undefined) return "Give old_string and new_string, or edits.";
  return [{ old_string: input.old_string, new_string: input.new_string, replace_all: input.replace_all }];
}

/** The new byte string, or what kept one of the edits from applying; then none of them counts. */
function applyEdits(before: string, edits: readonly Edit[], shown: string): string | { problem: string } {
  let text = before;
  for (const [index, given] of edits.entries()) {
    const one = asInFile(text, given);
    const where = edits.length > 1 ? `${shown}, edit ${index + 1}` : shown;
    if (one.old_string === "") return { problem: `${where}: old_string is empty. Use WriteFile for a whole file.` };
    const matches = findMatches(text, toByteString(one.old_string));
    if (matches.length === 0)
      return { problem: `${where}: old_string is not in the file.${nearest(text, one.old_string)} Nothing was changed.` };
    if (matches.length > 1 && !one.replace_all) {
      const lines = matches.slice(0, 10).map((match) => text.slice(0, match.start).split("\n").length);
      return {
        problem: `${where}: old_string occurs ${matches.length} times (lines ${lines.join(", ")}). Take in more lines, or set replace_all. Nothing was changed.`,
      };
    }
    const replacement = toByteString(one.new_string);
    let result = "";
    let end = 0;
    for (const match of matches) {
      result += text.slice(end, match.start) + withEndings(text, match, replacement);
      end = match.end;
    }
    text = result + text.slice(end);
  }
  return text;
}

/** ReadFile shows the system's tags escaped. An edit that is copied from there means the file's own, and writes what it means. */
function asInFile(text: string, given: Edit): Edit {
  const old_string = unescapeSystemTags(given.old_string);
  if (old_string === given.old_string || findMatches(text, toByteString(given.old_string)).length > 0) return given;
  return { ...given, old_string, new_string: unescapeSystemTags(given.new_string) };
}

/** The place that fits best when blanks are ignored, with its blanks made visible: shown, never used. */
function nearest(text: string, wanted: string): string {
  const squeeze = (line: string) => line.replaceAll(/\s+/g, " ").trim();
  const first = wanted
    .split("\n")
    .map(squeeze)
    .find((line) => line !== "");
  if (first === undefined) return "";
  const lines = fromByteString(text).toString("utf8").split("\n");
  const at = lines.findIndex((line) => squeeze(line) === first);
  const line = lines[at];
  if (line === undefined) return "";
  return ` Nearest, line ${at + 1} (tabs shown as →): ${line.replaceAll("\t", "→").replace("\r", "").slice(0, 200)}`;
}
