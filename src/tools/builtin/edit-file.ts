import * as z from "zod";
import { defineTool } from "../../protocol/define-tool.ts";
import type { Tool } from "../../protocol/tool.ts";
import type { FileState } from "../file-state.ts";

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

export function editFileTool(state: FileState): Tool {
  return defineTool({
    name: "EditFile",
    description:
      "Replaces exact text in a file that was read before. Give old_string and new_string, or several in edits (all or none). old_string must be unique unless replace_all is set; take in neighbouring lines to make it so. Bytes around the edit stay as they are: encoding, BOM, line endings, final newline, mode. Refused when the file changed on disk since it was read.",
    schema,
    access: ({ path }) => ({ kind: "write", subject: path, paths: [path] }),
    run: async (input, context) => (await import("../edit.ts")).editFile(input, context, state),
  });
}
