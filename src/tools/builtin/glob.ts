import * as z from "zod";
import { defineTool } from "../../protocol/define-tool.ts";
import type { MayShow, Tool } from "../../protocol/tool.ts";

const schema = z.object({
  pattern: z.string().min(1).max(500).describe('Glob such as "**/*.ts" or "src/*.{js,ts}".'),
  path: z.string().optional().describe("Folder to search in; the working folder unless given."),
});

export function globTool(mayShow?: MayShow): Tool {
  return defineTool({
    name: "Glob",
    description:
      "Finds files by a glob pattern, newest first, at most 200. Files that .gitignore names are left out; hidden ones are found. Use it to find files by name, and Grep to find them by content.",
    schema,
    access: ({ pattern, path }) => ({ kind: "read", subject: pattern, paths: [path || "."] }),
    isConcurrencySafe: () => true,
    run: async (input, context) => (await import("../search/find-files.ts")).glob(input, context, mayShow),
  });
}
