import { projectPaths } from "../platform/paths.ts";
import type { WorktreeNeeds } from "../team/worktree-needs.ts";
import { projectRules } from "./permissions.ts";
import type { Surroundings } from "./surroundings.ts";

/** Above what systems hand out by themselves begins at 32768; few programs have fixed ports here. */
const FIRST_PORT = 20_000;
const BLOCK = 10;

/** The person's own commands, else those of a project that the person has accepted. */
export async function worktreeNeeds(surroundings: Surroundings): Promise<WorktreeNeeds> {
  const { settings, projectRoot, projectWorktree, data } = surroundings;
  const { ports, ...own } = settings.team?.worktree ?? {};
  const asks = Object.keys(projectWorktree).length > 0;
  const accepted = asks && (await projectRules(surroundings)).isTrusted ? projectWorktree : {};
  return {
    includeFile: projectPaths(projectRoot).worktreeInclude,
    ...accepted,
    ...own,
    ports: { from: ports?.from ?? FIRST_PORT, size: ports?.size ?? BLOCK, record: data.ports },
  };
}
