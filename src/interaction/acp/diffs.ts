import { stat } from "node:fs/promises";
import type { Diff, ToolCallContent } from "@agentclientprotocol/sdk";
import { readOddFile } from "../../platform/files.ts";
import type { ToolUseBlock } from "../../protocol/message.ts";
import { isRecord } from "../../protocol/record.ts";
import { absolutePath } from "../../tools/workspace-path.ts";

/** Of what a file held before it is written anew. */
const MAX_BYTES = 256 * 1024;

type DiffContent = Extract<ToolCallContent, { type: "diff" }>;

/** What a call would change, for the person who is asked. Nothing for a call that changes no file. */
export async function proposedDiffs({ name, input }: ToolUseBlock, cwd: string): Promise<DiffContent[]> {
  if (typeof input.path !== "string") return [];
  const path = absolutePath(input.path, cwd);
  if (name === "WriteFile" && typeof input.content === "string") {
    const before = await textBefore(path);
    return before === "unknown" ? [] : [{ type: "diff", path, oldText: before, newText: input.content }];
  }
  if (name !== "EditFile") return [];
  const edits: unknown[] = Array.isArray(input.edits) && input.edits.length > 0 ? input.edits : [input];
  return edits.flatMap((edit): DiffContent[] =>
    isRecord(edit) && typeof edit.old_string === "string" && typeof edit.new_string === "string"
      ? [{ type: "diff", path, oldText: edit.old_string, newText: edit.new_string }]
      : [],
  );
}

/** Null where there is no file yet. */
async function textBefore(path: string): Promise<string | null | "unknown"> {
  const found = await stat(path).catch(() => undefined);
  if (!found) return null;
  if (found.size > MAX_BYTES) return "unknown";
  return (await readOddFile(path)).text ?? "unknown";
}

/** The hunks of a unified diff, each as the two texts that it stands for. */
export function hunksOf(patch: string, path: string): DiffContent[] {
  const hunks: (Diff & { type: "diff" })[] = [];
  let before: string[] = [];
  let after: string[] = [];
  let isNew = false;
  const close = () => {
    if (before.length + after.length > 0)
      hunks.push({ type: "diff", path, oldText: isNew ? null : before.join("\n"), newText: after.join("\n") });
    before = [];
    after = [];
  };
  let isInHunk = false;
  for (const line of patch.split("\n")) {
    if (line.startsWith("@@ ")) {
      close();
      isInHunk = true;
      isNew = line.startsWith("@@ -0,0 ");
    } else if (isInHunk) {
      if (line.startsWith("-") || line.startsWith(" ")) before.push(line.slice(1));
      if (line.startsWith("+") || line.startsWith(" ")) after.push(line.slice(1));
    }
  }
  close();
  return hunks;
}
