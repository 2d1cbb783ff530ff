import { processesWithEnvironment, stopTree } from "../platform/process-tree.ts";
import type { TeammateInfo } from "../protocol/team.ts";

type Marked = Pick<TeammateInfo, "worktreePath" | "ports">;
type Mark = { ROOCODE_WORKTREE: string; ROOCODE_PORT?: string; ROOCODE_PORT_COUNT?: string };

/**
 * In the environment of all commands and checks of a worktree: they are known by it when their teammate is gone, and two servers of two
 * teammates do not meet on a port.
 */
export function commandMark({ worktreePath, ports }: Marked): Mark {
  const own = ports ? { ROOCODE_PORT: String(ports.first), ROOCODE_PORT_COUNT: String(ports.size) } : {};
  return { ROOCODE_WORKTREE: worktreePath, ...own };
}

/** Ends the commands that a killed teammate could not end itself: nobody reads them any more, and they would go on writing. */
export async function endLeftCommands(member: Marked): Promise<void> {
  const { ROOCODE_WORKTREE } = commandMark(member);
  await Promise.all(processesWithEnvironment("ROOCODE_WORKTREE", ROOCODE_WORKTREE).map((pid) => stopTree(pid)));
}
