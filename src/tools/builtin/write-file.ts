import * as z from "zod";
import { defineTool } from "../../protocol/define-tool.ts";
import type { Tool } from "../../protocol/tool.ts";
import type { FileState } from "../file-state.ts";

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
    run: async (input, context) => (await import("../write.ts")).writeFile(input, context, state),
  });
}
