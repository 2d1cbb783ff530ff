import { dirname, join } from "node:path";
import { escapeSystemTags } from "../protocol/system-tags.ts";
import { type IncludeRules, InstructionReader } from "./instruction-reader.ts";

export type Instructions = { text: string; notes: string[] };
export type InstructionSources = IncludeRules & { projectRoot: string; userFile: string };

const BETWEEN = "\n\n---\n\n";

/**
 * The project's ROOCODE.md, then that in its .roocode, then the user's, joined by `---`; AGENTS.md and CLAUDE.md of a folder
 * count where no ROOCODE.md stands beside them. Undefined when there is none. `seen` gets the files that were read.
 */
export async function loadInstructions(sources: InstructionSources, seen?: Set<string>): Promise<Instructions | undefined> {
  const { projectRoot, userFile, home } = sources;
  const reader = new InstructionReader(sources, seen);
  const userFolder = dirname(userFile);
  const parts = [
    ...(await reader.folder(projectRoot, [projectRoot])),
    ...(await reader.folder(join(projectRoot, ".roocode"), [projectRoot])),
    ...(await reader.folder(userFolder, [userFolder, home, projectRoot])),
  ];
  if (parts.length === 0 && reader.notes.length === 0) return undefined;
  return { text: parts.join(BETWEEN), notes: reader.notes };
}

export function instructionsReminder(text: string): string {
  return `<system-reminder>\nInstructions of the user and of this project. They hold unless the user says otherwise.\n\n${escapeSystemTags(text)}\n</system-reminder>`;
}
