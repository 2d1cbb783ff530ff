import { join } from "node:path";
import type { Surroundings } from "./surroundings.ts";

/** One lock for all worktrees of a repository, whoever makes them. */
export function worktreeLock({ data }: Surroundings, primary: string): string {
  return join(data.project(primary), "worktrees.lock");
}
