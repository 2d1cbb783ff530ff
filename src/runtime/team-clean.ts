import { isAlive, selfIdentity } from "../platform/process.ts";
import { primaryAt } from "../platform/repository.ts";
import { UserError } from "../protocol/errors.ts";
import { LEAD, type TeamConfig } from "../protocol/team.ts";
import { openTeamBus, readTeam } from "../team/bus/team-bus.ts";
import { cleanTeam, refuseActive } from "../team/clean.ts";
import { teamFolder } from "./find-team.ts";
import { readSurroundings, type Surroundings } from "./surroundings.ts";
import { fileAway } from "./team-end.ts";
import { worktreeLock } from "./worktree-lock.ts";
import { worktreeNeeds } from "./worktree-needs.ts";

/** `roocode team clean`: what is proven merged goes, the record moves to `.done`; what would lose work stays and is named. */
export async function cleanUp(
  surroundings: Surroundings,
  name: string,
  force: boolean,
): Promise<{ removed: string[]; kept: string[]; text: string }> {
  const { data } = surroundings;
  const folder = await teamFolder(data, name);
  const { team } = await readTeam(folder);
  refuseLed(team);
  const primary = primaryAt(team.repoRoot);
  if (primary === undefined) throw new UserError(`The team's repository ${team.repoRoot} is gone. Its record is in ${folder}.`);
  await using bus = await openTeamBus({ teamFolder: folder, self: { name: LEAD, epoch: 1 } });
  // In the lead's place, so that neither a resume nor another clean begins meanwhile. Members that wait for a lead must not see one.
  await bus.roster.update((now) => {
    refuseLed(now);
    refuseActive(now);
    return { ...now, lead: { permissionMode: "acceptEdits", ...now.lead, process: selfIdentity() } };
  });
  const result = await cleanTeam({
    bus,
    primary,
    checkout: team.repoRoot,
    worktrees: data.teamWorktrees(primary, name),
    worktreeLock: worktreeLock(surroundings, primary),
    needs: await worktreeNeeds(await readSurroundings(primary, surroundings.env, surroundings.flags)),
    force,
  });
  if (result.kept.length === 0) await fileAway(folder, data.doneTeams, name);
  return result;
}

function refuseLed({ name, lead }: TeamConfig): void {
  if (lead && isAlive(lead.process))
    throw new UserError(`Team "${name}" is running (lead pid ${lead.process.pid}). Stop it first: roocode team stop ${name}`);
}
