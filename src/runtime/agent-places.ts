import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { DefinitionFolder, Definitions } from "../engine/subagents/definitions.ts";
import { isErrno } from "../platform/files.ts";
import { packageRoot } from "../platform/package.ts";
import { escapeSystemTags } from "../protocol/system-tags.ts";
import { definitionItem } from "./project-items.ts";
import type { Surroundings } from "./surroundings.ts";

const BUILT_IN = ["Explore", "Plan", "general-purpose"];
const MAX_LISTED = 50;
const MAX_CHARACTERS = 240;

type Places = Pick<Surroundings, "projectRoot" | "data" | "home" | "settings">;

/** Where definitions of sub-agents lie, the ones that come first before the others. */
export function agentFolders(surroundings: Places, isAccepted: (item: string) => boolean): DefinitionFolder[] {
  const { enableVerificationAgent } = surroundings.settings;
  const { projectRoot } = surroundings;
  const isOff = async (file: string, text: string) => {
    const item = await definitionItem(projectRoot, file, text);
    return item === undefined || isAccepted(item) ? undefined : "it is off until you accept what this folder brings, with --trust.";
  };
  const [project, claude, user, userClaude] = customFolders(surroundings);
  return [
    { path: project, level: "project", isOff },
    { path: claude, level: "project", isOff },
    { path: user, level: "user" },
    { path: userClaude, level: "user" },
    {
      path: join(packageRoot(), "agents"),
      level: "built-in",
      only: [...BUILT_IN, ...(enableVerificationAgent ? ["Verification"] : [])],
    },
  ];
}

function customFolders({ projectRoot, data, home }: Places): [string, string, string, string] {
  return [
    join(projectRoot, ".roocode", "agents"),
    join(projectRoot, ".claude", "agents"),
    join(data.root, "agents"),
    join(home, ".claude", "agents"),
  ];
}

/** What the person or the project defined, as they stand now; where there is nothing, nothing loads for it. */
export async function customAgents(surroundings: Places, isAccepted: (item: string) => boolean): Promise<Definitions | undefined> {
  if (!customFolders(surroundings).some(hasFiles)) return undefined;
  const { loadDefinitions } = await import("../engine/subagents/definitions.ts");
  return loadDefinitions(agentFolders(surroundings, isAccepted).filter(({ level }) => level !== "built-in"));
}

/** For the model: which kinds there are beside the built-in ones. Descriptions are others' words, so each is one line. */
export function customAgentsReminder({ agents }: Definitions): string | undefined {
  const lines = [...agents.values()].slice(0, MAX_LISTED).map(({ name, description }) => {
    const line = description.replace(/\s+/g, " ");
    return `- ${name}: ${line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS)}…` : line}`;
  });
  if (lines.length === 0) return undefined;
  const more = agents.size > MAX_LISTED ? `\nand ${agents.size - MAX_LISTED} more` : "";
  return `<system-reminder>Further types for the Agent tool's subagent_type:\n${escapeSystemTags(lines.join("\n"))}${more}</system-reminder>`;
}

function hasFiles(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0;
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR", "EACCES")) return false;
    throw error;
  }
}
