import type { RuleSet } from "../safety/rules.ts";
import { isTrusted as isTrustedFolder, trustFolder } from "../safety/trust.ts";
import { projectItems } from "./project-items.ts";
import type { Surroundings } from "./surroundings.ts";

export type ProjectTrust = { isTrusted: boolean; items: readonly string[] };

/** Whether the person has accepted exactly what the project brings; `--trust` accepts it. */
export async function projectTrust(surroundings: Surroundings, rules: RuleSet): Promise<ProjectTrust> {
  const { data, projectRoot, flags } = surroundings;
  const items = await projectItems(surroundings, rules);
  if (flags.trust && items.length > 0) await trustFolder(data.trust, projectRoot, items);
  return { isTrusted: await isTrustedFolder(data.trust, projectRoot, items), items };
}

/** One line where nobody is asked. */
export function untrustedText(items: readonly string[]): string {
  return `This folder is not trusted: what it brings that runs or allows is off (${items.join(", ")}). Accept it with --trust.`;
}
