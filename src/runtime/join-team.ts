import { homedir } from "node:os";
import { join } from "node:path";
import { exists } from "../platform/files.ts";
import { gitText } from "../platform/git.ts";
import { dataPaths, projectPaths } from "../platform/paths.ts";
import { isAlive } from "../platform/process.ts";
import { findRepository } from "../platform/repository.ts";
import { addWorktree, furnishWorktree, restoreWorktree } from "../platform/worktree.ts";
import { UserError } from "../protocol/errors.ts";
import type { TeammateInfo } from "../protocol/team.ts";
import type { Boot } from "../team/boot.ts";
import { makeInbox, teamLayout } from "../team/bus/file/layout.ts";
import { openFileBus, readTeam } from "../team/bus/file/open.ts";
import { badMemberName, memberBranch } from "../team/member-name.ts";
import { teamFolder } from "./find-team.ts";

const JOINED = "You joined this team by hand. Look at TaskList and take what is free; end your turn when there is nothing.";

/** Roster entry, worktree and boot data for a worker that a person starts in a terminal of their own. */
export async function joinTeam(
  { team: teamName, name, model }: { team: string; name: string; model?: string | undefined },
  env: NodeJS.ProcessEnv,
): Promise<Boot> {
  const data = dataPaths(env.HOME ?? homedir(), env.ROOCODE_HOME);
  const folder = await teamFolder(data, teamName);
  const { team } = await readTeam(folder);
  const known = team.members.find((member) => member.name === name);
  if (known?.process && isAlive(known.process)) {
    throw new UserError(
      `${name} lives already (pid ${known.process.pid}${known.paneId ? `, pane ${known.paneId}` : ""}). Write to it: roocode team send ${teamName} ${name} "…"`,
    );
  }
  const problem = known ? undefined : badMemberName(name, team);
  if (problem) throw new UserError(problem);
  const primary = findRepository(team.repoRoot)?.primary;
  if (primary === undefined) throw new UserError(`The team's repository ${team.repoRoot} is gone.`);
  const lockPath = join(data.project(primary), "worktrees.lock");
  const includeFile = projectPaths(primary).worktreeInclude;
  const permissionMode = team.lead?.permissionMode ?? "default";

  await using bus = await openFileBus({ teamFolder: folder, self: { name, epoch: (known?.epoch ?? 0) + 1 } });
  const info: TeammateInfo = known
    ? withoutProcess({ ...known, epoch: known.epoch + 1, backendType: "process" })
    : {
        name,
        agentId: `${name}@${team.name}`,
        agentType: "worker",
        ...(model ? { model } : {}),
        worktreePath: join(data.teamWorktrees(primary, team.name), name),
        branch: memberBranch(team.name, name),
        baseCommit: await gitText(primary, ["rev-parse", "--verify", `refs/heads/${team.baseBranch}^{commit}`]),
        backendType: "process",
        epoch: 1,
        planModeRequired: team.plan !== undefined,
        permissionMode,
      };
  await bus.roster.update((now) => ({ ...now, members: [...now.members.filter((member) => member.name !== name), info] }));
  await makeInbox(teamLayout(folder), name);
  if (!known)
    await addWorktree({ primary, path: info.worktreePath, branch: info.branch, commit: info.baseCommit, lockPath }).catch(
      async (cause: unknown) => {
        await bus.roster.update((now) => ({ ...now, members: now.members.filter((member) => member.name !== name) }));
        throw new UserError(`${name} could not get a worktree: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
      },
    );
  else if (!(await exists(info.worktreePath))) await restoreWorktree({ primary, path: info.worktreePath, branch: info.branch, lockPath });
  await furnishWorktree(primary, info.worktreePath, includeFile);
  return {
    version: 1,
    team: team.name,
    teamFolder: folder,
    name,
    epoch: info.epoch,
    ...(known ? { revivedAt: new Date().toISOString() } : { prompt: JOINED }),
    ...(model ? { model } : {}),
    permissionMode: info.permissionMode,
    headless: false,
    isByHand: true,
    env: Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)),
  };
}

function withoutProcess({ process: _process, paneId: _paneId, stoppedAt: _stoppedAt, ...info }: TeammateInfo): TeammateInfo {
  return info;
}
