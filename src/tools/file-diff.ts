import type { ToolDisplay } from "../protocol/tool.ts";

const MAX_CHARACTERS = 400_000;

/** A unified diff for the person; a note for what is too large to compare in reasonable time. */
export async function fileDiff(path: string, before: string, after: string): Promise<ToolDisplay> {
  if (before.length + after.length > MAX_CHARACTERS) return { type: "text", text: `${path}: too large to show a diff` };
  const { createTwoFilesPatch } = await import("diff");
  const patch = createTwoFilesPatch(path, path, before, after, "", "", { context: 3 });
  return { type: "diff", path, patch: patch.replace(/^(?:Index: .*\n)?=+\n/, "") };
}
