import { join } from "node:path";
import { selectModel } from "../engine/providers/select.ts";
import { selfIdentity } from "../platform/process.ts";
import { UserError } from "../protocol/errors.ts";
import type { PermissionMode } from "../protocol/permission.ts";
import { type BackendKind, LEAD, type PlanApprover, type TeamConfig } from "../protocol/team.ts";
import type { BackendChoice } from "../team/backends/detect.ts";
import type { BusAddress } from "../team/bus/address.ts";
import { createTeamOn } from "../team/bus/team-bus.ts";
import { badTeamName, teamNameFrom } from "../team/member-name.ts";
import { isTeam } from "./find-team.ts";
import { projectRules } from "./permissions.ts";
import type { Surroundings } from "./surroundings.ts";
import { backendFacts, chooseBackend } from "./team-backend.ts";
import { requirePrice } from "./team-budget.ts";
import { type TeamGround, teamGround } from "./team-preflight.ts";

export type TeamRequest = {
  goal: string;
  name?: string | undefined;
  backend: BackendKind | "auto";
  check?: string | undefined;
  merge: boolean;
  plan?: PlanApprover | undefined;
  /** A server instead of files. */
  bus?: BusAddress | undefined;
  /** Of the conversation that it grows out of. */
  session?: string;
};
export type NewTeam = { team: TeamConfig; folder: string; ground: TeamGround; choice: BackendChoice; mode: PermissionMode };

export type TeamCheck = Pick<NewTeam, "ground" | "choice" | "mode"> & { model: string | undefined };

/** All that can be refused before anything is written: goal, repository, model, backend, name. */
export async function checkTeam(surroundings: Surroundings, request: TeamRequest): Promise<TeamCheck> {
  const { env, flags, settings, data } = surroundings;
  if (request.goal.trim() === "") throw new UserError('A team needs a goal: roocode team "refactor auth module"');
  const ground = await teamGround(surroundings);
  const model = flags.model ?? env.ROOCODE_MODEL ?? settings.model;
  selectModel({ providers: settings.providers ?? [], model, env });
  requirePrice(surroundings, flags.maxCost, model);
  const choice = chooseBackend(surroundings, request.backend, await backendFacts(surroundings));
  await freeName(request, data.teams);
  return { ground, choice, mode: flags.permissionMode ?? settings.permissionMode ?? "acceptEdits", model };
}

export async function createTeam(surroundings: Surroundings, request: TeamRequest): Promise<NewTeam> {
  const { data, settings, flags } = surroundings;
  const { ground, choice, mode, model } = await checkTeam(surroundings, request);
  const name = await freeName(request, data.teams);
  const folder = data.team(name);
  const check = request.check ?? settings.team?.check ?? (await trustedCheck(surroundings));
  const team = await createTeamOn(request.bus, folder, {
    name,
    goal: request.goal,
    leadAgentId: `${LEAD}@${name}`,
    repoRoot: ground.checkout,
    baseBranch: ground.baseBranch,
    baseCommit: ground.baseCommit,
    ...(check ? { check } : {}),
    members: [],
    lead: {
      process: selfIdentity(),
      permissionMode: mode,
      ...(model ? { model } : {}),
      ...(request.session ? { session: request.session } : {}),
    },
    backend: choice,
    merge: request.merge,
    ...(request.plan === undefined ? {} : { plan: request.plan }),
    ...(flags.maxCost === undefined ? {} : { maxCost: flags.maxCost }),
  });
  return { team, folder, ground, choice, mode };
}

/** A command of the repository's own runs once the person has accepted it. */
async function trustedCheck(surroundings: Surroundings): Promise<string | undefined> {
  const { projectCheck } = surroundings;
  return projectCheck !== undefined && (await projectRules(surroundings)).isTrusted ? projectCheck : undefined;
}

async function freeName({ name, goal }: TeamRequest, teams: string): Promise<string> {
  if (name !== undefined) {
    const problem = badTeamName(name);
    if (problem) throw new UserError(problem);
    if (await isTeam(join(teams, name))) {
      throw new UserError(
        `There is a team "${name}" already. Go on with it: roocode team resume ${name}; or tidy it away: roocode team clean ${name}`,
      );
    }
    return name;
  }
  const base = teamNameFrom(goal);
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? base : `${base}-${number}`;
    if (!(await isTeam(join(teams, candidate)))) return candidate;
  }
}
