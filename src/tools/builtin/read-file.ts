import * as z from "zod";
import { defineTool } from "../../protocol/define-tool.ts";
import type { Tool } from "../../protocol/tool.ts";
import type { FileState } from "../file-state.ts";
import { MAX_CHARACTERS, MAX_LINE_CHARACTERS, MAX_LINES } from "../read/limits.ts";

const schema = z.object({
  path: z.string().min(1).describe("File to read: absolute, or relative to the working folder."),
  offset: z.int().min(1).optional().describe("First line to read, from 1."),
  limit: z.int().min(1).optional().describe(`How many lines; ${MAX_LINES} unless given.`),
});

export function readFileTool(state: FileState): Tool {
  return defineTool({
    name: "ReadFile",
    description: `Reads a text file with line numbers (number, tab, line), an image, a notebook's cells, or the text of a PDF. Read a file before you edit it. Returns at most ${MAX_LINES} lines or ${MAX_CHARACTERS} characters a call and says how to read on; lines over ${MAX_LINE_CHARACTERS} characters are cut with a mark. For a folder use Glob or Bash ls.`,
    schema,
    access: ({ path }) => ({ kind: "read", subject: path, paths: [path] }),
    isConcurrencySafe: () => true,
    run: async (input, context) => (await import("../read/read.ts")).readFile(input, context, state),
  });
}
