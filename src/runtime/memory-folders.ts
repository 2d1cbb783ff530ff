import type { MemoryFolder } from "../memory/auto-memory/memory-index.ts";
import { projectPaths } from "../platform/paths.ts";
import type { Surroundings } from "./surroundings.ts";

/** The person's first, then the project's; one where both are the same. */
export function memoryFolders({ data, projectRoot }: Surroundings): MemoryFolder[] {
  const user = { path: data.memory, below: data.root };
  const project = { path: projectPaths(projectRoot).memory, below: projectRoot, isProject: true };
  return user.path === project.path ? [user] : [user, project];
}
