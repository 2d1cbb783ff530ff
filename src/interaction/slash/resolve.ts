import { existsSync } from "node:fs";
import type { OpenedSession } from "../../runtime/open-session.ts";
import type { Skill } from "../../tools/skills/skill.ts";
import type { SlashCommand } from "./command.ts";
import { findPrompt, noSuchCommand } from "./prompts.ts";
import { SLASH_COMMANDS } from "./registry.ts";

export type Slash = { name: string; argument: string } & (
  | { type: "command"; command: SlashCommand }
  | { type: "prompt"; skill: Skill }
  /** `text`: one line for the person. */
  | { type: "unknown"; text: string }
);

/** Whether a line may be a command; cheap, and true for some that are none. */
export function maySlash(line: string): boolean {
  return partsOf(line) !== undefined;
}

/** What a line that begins with a slash asks for; undefined for a message, such as one that begins with a path. */
export async function resolveSlash(line: string, session: Pick<OpenedSession, "skills">): Promise<Slash | undefined> {
  const parts = partsOf(line);
  if (!parts) return undefined;
  const { name } = parts;
  const command = SLASH_COMMANDS.find((one) => one.name === name);
  if (command) return { ...parts, type: "command", command };
  const skill = await findPrompt(name, session);
  if (skill) return { ...parts, type: "prompt", skill };
  // "/tmp is full".
  if (!/^[A-Za-z]/.test(name) || existsSync(`/${name}`)) return undefined;
  const own = SLASH_COMMANDS.map((one) => one.name);
  return { ...parts, type: "unknown", text: await noSuchCommand(name, own, session) };
}

/** A name and what stands behind it. A second slash makes it a path; `/*` and `//` begin a comment. */
function partsOf(line: string): { name: string; argument: string } | undefined {
  const [, name, argument = ""] = /^\/([\p{L}\p{N}][\p{L}\p{N}_:.-]*)(?:\s+([\s\S]*))?$/u.exec(line.trim()) ?? [];
  // Prompts of MCP servers are filled in where the message is made.
  return name === undefined || name.startsWith("mcp__") ? undefined : { name, argument: argument.trim() };
}
