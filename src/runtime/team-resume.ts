import { exists } from "../platform/files.ts";
import { isAlive, selfIdentity } from "../platform/process.ts";
import { UserError } from "../protocol/errors.ts";
import { LEAD, type TeamConfig } from "../protocol/team.ts";
import { type BackendChoice, detectBackend } from "../team/backends/detect.ts";
import { openTeamBus, readTeam } from "../team/bus/team-bus.ts";
import { endLeftCommands } from "../team/left-commands.ts";
import { teamFolder } from "./find-team.ts";
import { dropHalfMembers } from "./half-members.ts";
import type { Surroundings } from "./surroundings.ts";
import { readSurroundings } from "./surroundings.ts";
import { backendFacts, integrationPath } from "./team-backend.ts";
import { requirePrice } from "./team-budget.ts";
import type { NewTeam } from "./team-create.ts";
import { teamGround } from "./team-preflight.ts";
import { statusText, teamStatus } from "./team-status.ts";
import { worktreeLock } from "./worktree-lock.ts";
import { worktreeNeeds } from "./worktree-needs.ts";

export type ResumedTeam = NewTeam & { surroundings: Surroundings; note: string };

/** A team whose lead is gone gets this process as its lead; check, mode and backend are the team's own. */
export async function resumeTeam(from: Surroundings, name: string): Promise<ResumedTeam> {
  const folder = await teamFolder(from.data, name);
  const { team } = await readTeam(folder);
  refuseLiving(team);
  if (!(await exists(team.repoRoot))) throw new UserError(`The team's repository ${team.repoRoot} is gone. Its record is in ${folder}.`);
  const surroundings = await readSurroundings(team.repoRoot, from.env, from.flags);
  const ground = await teamGround(surroundings);
  if (ground.baseBranch !== team.baseBranch) {
    throw new UserError(
      `${team.repoRoot} is on branch ${ground.baseBranch}, but the team works for ${team.baseBranch}. Switch first: git switch ${team.baseBranch}`,
    );
  }
  const choice = await backendAgain(team.backend, surroundings);
  const mode = from.flags.permissionMode ?? team.lead?.permissionMode ?? "acceptEdits";
  const maxCost = from.flags.maxCost ?? team.maxCost;
  // Members without one of their own have the lead's, from their next start on.
  const leadModel = from.flags.model ?? team.lead?.model;
  for (const model of new Set([leadModel, ...team.members.map((member) => member.model ?? leadModel)]))
    requirePrice(surroundings, maxCost, model);
  await using bus = await openTeamBus({ teamFolder: folder, self: { name: LEAD, epoch: 1 } });
  const led = await bus.roster.update((before) => {
    // Of two that resume at once, one is the lead.
    refuseLiving(before);
    return {
      ...before,
      lead: { process: selfIdentity(), permissionMode: mode, ...(leadModel ? { model: leadModel } : {}) },
      backend: choice,
      ...(maxCost === undefined ? {} : { maxCost }),
    };
  });
  // Of a Converge in which the last lead was killed.
  await endLeftCommands({ worktreePath: integrationPath(surroundings, ground.primary, name) });
  const half = await dropHalfMembers(bus.roster, {
    teamFolder: folder,
    primary: ground.primary,
    worktreeLock: worktreeLock(surroundings, ground.primary),
    needs: await worktreeNeeds(surroundings),
  });
  const now = half.length === 0 ? led : await bus.roster.read();
  const never = half.length === 0 ? "" : `\nNever came to life, start them again if they are needed: ${half.join(", ")}.`;
  const status = statusText(await teamStatus(folder));
  const note = `<system-reminder>\nThe lead's process had ended and was started again. This is the team now:\n${status}\nA message to a teammate whose process is gone starts it again with all it knew. Go on with the work.${never}\n</system-reminder>`;
  return { team: now, folder, ground: { ...ground, baseCommit: team.baseCommit }, choice, mode, surroundings, note };
}

function refuseLiving({ name, lead }: TeamConfig): void {
  if (lead && isAlive(lead.process))
    throw new UserError(`Team "${name}" has a living lead (pid ${lead.process.pid}). Look at it: roocode team status ${name}`);
}

/** What it had, where that is there; a team can be resumed in another terminal than it was started in. */
async function backendAgain(before: BackendChoice | undefined, surroundings: Surroundings): Promise<BackendChoice> {
  const kind = before?.kind ?? "process";
  const facts = await backendFacts(surroundings);
  try {
    return { ...detectBackend(kind, facts), reason: "the team's own" };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { kind: other, reason } = detectBackend("auto", facts);
    return { kind: other, reason: `${kind}, which it had, is not there now; ${reason}` };
  }
}
