import type { AvailableCommand } from "@agentclientprotocol/sdk";
import { UserError } from "../../protocol/errors.ts";
import type { OpenedSession } from "../../runtime/open-session.ts";
import { slashCompletions } from "../slash/completions.ts";
import { SLASH_COMMANDS } from "../slash/registry.ts";

/** The editor does these itself: it begins, ends and loads conversations. */
const EDITORS_OWN = new Set(["clear", "exit", "quit", "resume"]);

/** What can be typed behind a slash: commands that need no screen, skills, command files, prompts of servers. */
export async function availableCommands(session: Pick<OpenedSession, "skills" | "mcp">): Promise<AvailableCommand[]> {
  const all = await slashCompletions(SLASH_COMMANDS, session);
  return all
    .filter(({ name, type }) => type !== "local-ui" && !EDITORS_OWN.has(name))
    .map(({ name, description, argumentHint }) => ({
      name,
      description,
      ...(argumentHint === undefined ? {} : { input: { hint: argumentHint } }),
    }));
}

export function refuseEditorsOwn(text: string): void {
  const [, name = ""] = /^\/(\w+)\s*/.exec(text.trimStart()) ?? [];
  if (EDITORS_OWN.has(name)) throw new UserError(`/${name} is not used here: your editor begins, loads and ends conversations.`);
}
