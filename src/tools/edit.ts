import { ChangedFileError, replaceFile } from "../platform/open-checked.ts";
import { errorResult, type ToolContext, type ToolResult, textResult } from "../protocol/tool.ts";
import { nothingThere, placeOf, readWhole } from "./existing-file.ts";
import { digestOf, type FileState } from "./file-state.ts";
import { applyEdits, type Edit } from "./text/apply-edits.ts";
import { detectEncoding } from "./text/encoding.ts";
import { fileDiff } from "./text/file-diff.ts";
import { textForm } from "./text/form.ts";
import { absolutePath, shownPath } from "./workspace-path.ts";

export type EditInput = {
  path: string;
  old_string?: string | undefined;
  new_string?: string | undefined;
  replace_all?: boolean | undefined;
  edits?: Edit[] | undefined;
};

const MOST_SHOWN = 4_000;

export async function editFile(input: EditInput, context: ToolContext, state: FileState): Promise<ToolResult> {
  const shown = shownPath(absolutePath(input.path, context.cwd), context.cwd);
  const edits = collectEdits(input);
  if (typeof edits === "string") return errorResult(edits);

  const place = await placeOf(input.path, context);
  const found = await readWhole(place, shown);
  if (found === undefined) return errorResult(`${await nothingThere(place, shown)} Use WriteFile for a new file.`);
  if (typeof found === "string") return errorResult(`${found} It is not edited.`);
  const { bytes, stats } = found;
  const status = state.check(place, digestOf(bytes));
  if (status === "unread") return errorResult(`${shown} was not read yet. Read it first, then edit.`);
  if (status === "changed") return errorResult(`${shown} changed on disk since it was read. Read it again, then edit.`);

  const form = textForm(bytes, detectEncoding(bytes));
  if (!form) return errorResult(`${shown} is a binary file; it is not edited.`);
  const after = applyEdits(form, edits, shown);
  if (typeof after !== "string") return errorResult(after.problem);
  if (after === form.units)
    return errorResult(`${shown}: old and new text are the same but for line endings, which stay; nothing changed.`);

  const content = form.toBytes(after);
  try {
    await replaceFile(place, content, { mode: Number(stats.mode) & 0o7777, before: stats });
  } catch (error) {
    if (error instanceof ChangedFileError) return errorResult(error.message);
    throw error;
  }
  state.remember(place, digestOf(content));
  const diff = await fileDiff(shown, form.decode(form.units), form.decode(after));
  return textResult(`Edited ${shown}.\n${diff.type === "diff" ? diff.patch.slice(0, MOST_SHOWN) : ""}`.trimEnd(), diff);
}

function collectEdits(input: EditInput): Edit[] | string {
  const single = input.old_string !== undefined || input.new_string !== undefined;
  if (single && input.edits && input.edits.length > 0) return "Give either old_string and new_string, or edits, not both.";
  if (input.edits && input.edits.length > 0) return input.edits;
  if (input.old_string === undefined || input.new_string === undefined) return "Give old_string and new_string, or edits.";
  return [{ old_string: input.old_string, new_string: input.new_string, replace_all: input.replace_all }];
}
