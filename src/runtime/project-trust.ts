import { acceptGitPrograms, programsOf } from "../platform/git.ts";
import type { RuleSet } from "../safety/rules.ts";
import { isTrusted as isTrustedFolder, trustFolder } from "../safety/trust.ts";
import { projectItems } from "./project-items.ts";
import type { Surroundings } from "./surroundings.ts";

export type ProjectTrust = { isTrusted: boolean; items: readonly string[] };

/** Whether the person has accepted exactly what the project brings; `--trust` accepts it. */
export async function projectTrust(surroundings: Surroundings, rules: RuleSet): Promise<ProjectTrust> {
  const { data, projectRoot, flags } = surroundings;
  const programs = await programsOf(projectRoot);
  const items = await projectItems(surroundings, rules, programs);
  if (flags.trust && items.length > 0) await trustFolder(data.trust, projectRoot, items);
  const isTrusted = await isTrustedFolder(data.trust, projectRoot, items);
  if (isTrusted) acceptGitPrograms(programs);
  return { isTrusted, items };
}

/** A repository may bring hundreds; the question that accepts them shows all. */
const MOST_NAMED = 12;

/** One line where nobody is asked. */
export function untrustedText(items: readonly string[]): string {
  const others = items.length - MOST_NAMED;
  const named = `${items.slice(0, MOST_NAMED).join(", ")}${others > 0 ? ` and ${others} more` : ""}`;
  return `This folder is not trusted: what it brings that runs or allows is off (${named}). Accept it with --trust.`;
}
