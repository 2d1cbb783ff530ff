import type { ToolDisplay } from "../../protocol/tool.ts";

const MAX_CHARACTERS = 400_000;
const CONTEXT = 3;

/** A unified diff for the person. Only what lies between the first and the last change is compared, so a large file costs little. */
export async function fileDiff(path: string, before: string, after: string): Promise<ToolDisplay> {
  const { start, beforeEnd, afterEnd } = changedPart(before, after);
  if (beforeEnd - start + (afterEnd - start) > MAX_CHARACTERS) return { type: "text", text: `${path}: too large to show a diff` };
  const { structuredPatch, formatPatch } = await import("diff");
  const oldPart = before.slice(start, beforeEnd);
  const newPart = after.slice(start, afterEnd);
  const patch = structuredPatch(path, path, oldPart, newPart, "", "", { context: CONTEXT });
  const skipped = start === 0 ? 0 : before.slice(0, start).split("\n").length - 1;
  for (const hunk of patch.hunks) {
    hunk.oldStart += skipped;
    hunk.newStart += skipped;
  }
  return { type: "diff", path, patch: formatPatch(patch).replace(/^(?:Index: .*\n)?=+\n/, "") };
}

/** Whole lines, some around the change included. */
function changedPart(before: string, after: string): { start: number; beforeEnd: number; afterEnd: number } {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before.charCodeAt(start) === after.charCodeAt(start)) start++;
  let same = 0;
  while (same < shorter - start && before.charCodeAt(before.length - 1 - same) === after.charCodeAt(after.length - 1 - same)) same++;
  for (let lines = 0; lines <= CONTEXT && start > 0; lines++) start = before.lastIndexOf("\n", start - 2) + 1;
  let beforeEnd = before.length - same;
  for (let lines = 0; lines <= CONTEXT && beforeEnd < before.length; lines++) {
    const newline = before.indexOf("\n", beforeEnd);
    beforeEnd = newline < 0 ? before.length : newline + 1;
  }
  return { start, beforeEnd, afterEnd: after.length - (before.length - beforeEnd) };
}
