import { processesWithEnvironment, stopTree } from "../platform/process-tree.ts";
import type { TeammateInfo } from "../protocol/team.ts";

/** In the environment of all that a teammate's Bash runs, so that it is known by it when the teammate is gone. */
export function commandMark({ worktreePath }: Pick<TeammateInfo, "worktreePath">): { ROOCODE_WORKTREE: string } {
  return { ROOCODE_WORKTREE: worktreePath };
}

/** Ends the commands that a killed teammate could not end itself: nobody reads them any more, and they would go on writing. */
export async function endLeftCommands(member: Pick<TeammateInfo, "worktreePath">): Promise<void> {
  const { ROOCODE_WORKTREE } = commandMark(member);
  await Promise.all(processesWithEnvironment("ROOCODE_WORKTREE", ROOCODE_WORKTREE).map((pid) => stopTree(pid)));
}
