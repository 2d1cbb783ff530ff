import { readOddFile } from "../platform/files.ts";
import { projectPaths } from "../platform/paths.ts";
import { type Hook, type HookLevel, readHooks } from "../tools/hooks/schema.ts";
import { projectRules } from "./permissions.ts";
import { hookItem } from "./project-items.ts";
import { SETTINGS_LEVELS } from "./settings.ts";
import type { Surroundings } from "./surroundings.ts";

export type HooksInForce = {
  /** User, project, local: in the order in which they run. */
  hooks: Hook[];
  /** The project's, as long as the person has not accepted exactly them. */
  untrusted: Hook[];
  problems: string[];
};

/** The hooks of the three levels, appended. Those that came with the repository count once they were accepted. */
export async function hooksInForce(surroundings: Surroundings): Promise<HooksInForce> {
  const { data, projectRoot, isLocalForeign } = surroundings;
  const { config, localConfig } = projectPaths(projectRoot);
  const files: Record<HookLevel, string> = { user: data.config, project: config, local: localConfig };
  const read = await Promise.all(
    SETTINGS_LEVELS.map(async (level) => {
      const { text } = await readOddFile(files[level]);
      return text === undefined ? { hooks: [], problems: [] } : readHooks(text, files[level], level);
    }),
  );
  const all = read.flatMap(({ hooks }) => hooks);
  const problems = read.flatMap((one) => one.problems);
  const isForeign = ({ level }: Hook) => level === "project" || (level === "local" && isLocalForeign);
  if (!all.some(isForeign)) return { hooks: all, untrusted: [], problems };
  const { isTrusted, items } = await projectRules(surroundings);
  const isAccepted = (hook: Hook) => !isForeign(hook) || (isTrusted && items.includes(hookItem(hook.raw)));
  return { hooks: all.filter(isAccepted), untrusted: all.filter((hook) => !isAccepted(hook)), problems };
}
