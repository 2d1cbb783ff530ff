import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readTextOrUndefined } from "../platform/files.ts";

const MAX_CHARACTERS = 40_000;
const OTHER_NAMES = ["AGENTS.md", "CLAUDE.md"];

export type Instructions = { text: string; notes: string[] };

/**
 * The project's ROOCODE.md, then that in its .roocode, then the user's, joined by `---`; AGENTS.md and CLAUDE.md of a folder
 * count where no ROOCODE.md stands beside them. Undefined when there is none.
 */
export async function loadInstructions(projectRoot: string, userFile: string): Promise<Instructions | undefined> {
  const notes: string[] = [];
  const parts: string[] = [];
  const seen = new Set<string>();
  for (const path of [join(projectRoot, "ROOCODE.md"), join(projectRoot, ".roocode", "ROOCODE.md"), userFile]) {
    const names = [path, ...OTHER_NAMES.map((name) => join(dirname(path), name))];
    const own = await readPart(path, seen, notes);
    const found = own !== undefined ? [own] : [];
    if (own === undefined)
      for (const other of names.slice(1)) {
        const part = await readPart(other, seen, notes);
        if (part !== undefined) found.push(part);
      }
    parts.push(...found);
  }
  return parts.length > 0 ? { text: parts.join("\n\n---\n\n"), notes } : undefined;
}

/** A link to a file that was read already (AGENTS.md -> CLAUDE.md) counts once. */
async function readPart(path: string, seen: Set<string>, notes: string[]): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) return undefined;
  const identity = `${found.dev}:${found.ino}`;
  if (seen.has(identity)) return undefined;
  seen.add(identity);
  const text = (await readTextOrUndefined(path))?.trim();
  if (!text) return undefined;
  if (text.length > MAX_CHARACTERS) notes.push(`${path} has ${text.length} characters; only the first ${MAX_CHARACTERS} are used.`);
  return `# ${path}\n\n${text.slice(0, MAX_CHARACTERS)}`;
}

export function instructionsReminder(text: string): string {
  return `<system-reminder>\nInstructions of the user and of this project. They hold unless the user says otherwise.\n\n${text}\n</system-reminder>`;
}
