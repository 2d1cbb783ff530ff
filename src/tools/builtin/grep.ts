import * as z from "zod";
import { defineTool } from "../../protocol/define-tool.ts";
import type { MayShow, Tool } from "../../protocol/tool.ts";

const schema = z.object({
  pattern: z.string().min(1).describe("Regular expression in ripgrep's syntax."),
  path: z.string().optional().describe("File or folder to search; the working folder unless given."),
  glob: z.string().optional().describe('Only files that match, for example "*.ts".'),
  type: z.string().optional().describe("Only files of a type, for example ts, py, go."),
  output: z
    .enum(["lines", "files", "count"])
    .optional()
    .describe("Matching lines with file and number (default), only file names, or counts by file."),
  ignore_case: z.boolean().optional(),
  context: z.int().min(0).max(20).optional().describe("Lines shown before and after each match."),
  multiline: z.boolean().optional().describe("Let the pattern span lines."),
  limit: z.int().min(1).optional().describe("Most lines to return; 250 unless given."),
});

export function grepTool(mayShow?: MayShow): Tool {
  return defineTool({
    name: "Grep",
    description:
      "Searches file contents with a regular expression (ripgrep). Files that .gitignore names, binary files and .git are left out, and those that may not be read. Returns path:line:text, at most 250 lines, and how many there are in all. Use it instead of grep in Bash.",
    schema,
    access: ({ pattern, path }) => ({ kind: "read", subject: pattern, paths: [path || "."] }),
    isConcurrencySafe: () => true,
    run: async (input, context) => (await import("../search/search.ts")).grep(input, context, mayShow),
  });
}
