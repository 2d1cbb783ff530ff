import { readFile, stat } from "node:fs/promises";
import * as z from "zod";
import type { ToolUseBlock } from "../protocol/message.ts";
import { applyEdits } from "./text/apply-edits.ts";
import { detectEncoding } from "./text/encoding.ts";
import { fileDiff } from "./text/file-diff.ts";
import { type TextForm, textForm } from "./text/form.ts";
import { absolutePath, shownPath } from "./workspace-path.ts";

/** Nobody waits for a question longer than it takes to read such a file. */
const MAX_BYTES = 1024 * 1024;

const EditSchema = z.object({ old_string: z.string(), new_string: z.string(), replace_all: z.boolean().optional() });
const CallSchema = z.union([
  z.object({ name: z.literal("WriteFile"), input: z.object({ path: z.string(), content: z.string() }) }),
  z.object({ name: z.literal("EditFile"), input: z.object({ path: z.string(), edits: z.array(EditSchema).min(1) }) }),
  z.object({ name: z.literal("EditFile"), input: EditSchema.extend({ path: z.string() }) }),
]);

/** The change that a call would make to a file, as a unified diff for the person who is asked. Undefined for what makes none, or can't be told. */
export async function proposedChange(call: ToolUseBlock, cwd: string): Promise<string | undefined> {
  const parsed = CallSchema.safeParse(call);
  if (!parsed.success) return undefined;
  const { input } = parsed.data;
  const path = absolutePath(input.path, cwd);
  const shown = shownPath(path, cwd);
  const form = await textOf(path);
  if (form === "unknown") return undefined;
  const before = form ? form.decode(form.units) : "";
  if ("content" in input) return patchOf(shown, before, input.content);
  if (!form) return undefined;
  const after = applyEdits(form, "edits" in input ? input.edits : [input], shown);
  return typeof after === "string" ? patchOf(shown, before, form.decode(after)) : undefined;
}

/** Undefined where there is no file yet. */
async function textOf(path: string): Promise<TextForm | "unknown" | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (!found) return undefined;
  if (!found.isFile() || found.size > MAX_BYTES) return "unknown";
  // One that may not be read is for the call itself to find.
  const bytes = await readFile(path).catch(() => undefined);
  return (bytes && textForm(bytes, detectEncoding(bytes))) ?? "unknown";
}

async function patchOf(shown: string, before: string, after: string): Promise<string | undefined> {
  const diff = await fileDiff(shown, before, after);
  return diff.type === "diff" && before !== after ? diff.patch : undefined;
}
