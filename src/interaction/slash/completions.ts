import type { OpenedSession } from "../../runtime/open-session.ts";
import type { SlashCommand } from "./command.ts";
import { typedPrompts } from "./prompts.ts";

type SlashCompletion = {
  name: string;
  type: SlashCommand["type"] | "prompt";
  description: string;
  /** What is to be typed behind the name, for example `[focus]`. */
  argumentHint?: string;
};

/** All that can be typed behind a slash, by name: `commands` (the registry's), and command files, skills and prompts of servers as they stand now. */
export async function slashCompletions(
  commands: readonly SlashCommand[],
  session: Pick<OpenedSession, "skills" | "mcp">,
): Promise<SlashCompletion[]> {
  const own = commands.map(({ name, type, describe, argument }) => completion(name, type, describe, argument));
  const prompts = (await typedPrompts(session)).map(({ name, description, argumentHint }) =>
    completion(name, "prompt", firstSentence(description), argumentHint),
  );
  const ofServers = (session.mcp?.prompts() ?? []).map(({ name, describe, argument }) =>
    completion(name, "prompt", firstSentence(describe), argument === "" ? undefined : argument),
  );
  return [...own, ...prompts, ...ofServers].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function completion(name: string, type: SlashCompletion["type"], description: string, hint: string | undefined): SlashCompletion {
  return { name, type, description, ...(hint === undefined ? {} : { argumentHint: hint }) };
}

/** Descriptions are written for models and may be long. */
function firstSentence(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  const sentence = /^.{20,}?[.;](?= )/.exec(line)?.[0] ?? line;
  return sentence.length > 110 ? `${sentence.slice(0, 109)}…` : sentence;
}
