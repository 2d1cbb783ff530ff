import { homedir } from "node:os";
import { exists } from "../platform/files.ts";
import { gitText } from "../platform/git.ts";
import { dataPaths } from "../platform/paths.ts";
import { isAlive } from "../platform/process.ts";
import { primaryAt } from "../platform/repository.ts";
import { UserError } from "../protocol/errors.ts";
import type { TeammateInfo } from "../protocol/team.ts";
import type { Boot } from "../team/boot.ts";
import { makeInbox, teamLayout } from "../team/bus/file/layout.ts";
import { openTeamBus, readTeam } from "../team/bus/team-bus.ts";
import { badMemberName } from "../team/member-name.ts";
import { type MemberGround, makeMemberTree, memberTree, restoreMember } from "../team/member-tree.ts";
import { teamFolder } from "./find-team.ts";
import { readSurroundings } from "./surroundings.ts";
import { worktreeLock } from "./worktree-lock.ts";
import { worktreeNeeds } from "./worktree-needs.ts";

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
  const primary = primaryAt(team.repoRoot);
  if (primary === undefined) throw new UserError(`The team's repository ${team.repoRoot} is gone.`);
  const surroundings = await readSurroundings(primary, env, {});
  const permissionMode = team.lead?.permissionMode ?? "default";

  await using bus = await openTeamBus({ teamFolder: folder, self: { name, epoch: (known?.epoch ?? 0) + 1 } });
  const ground: MemberGround = {
    bus,
    primary,
    worktrees: data.teamWorktrees(primary, team.name),
    worktreeLock: worktreeLock(surroundings, primary),
    needs: await worktreeNeeds(surroundings),
    onNote: (text) => void process.stderr.write(`${text}\n`),
  };
  const tree = known ? { path: known.worktreePath, branch: known.branch } : await memberTree(name, team.name, ground);
  const info: TeammateInfo = known
    ? withoutProcess({ ...known, epoch: known.epoch + 1, backendType: "process" })
    : {
        name,
        agentId: `${name}@${team.name}`,
        agentType: "worker",
        ...(model ? { model } : {}),
        worktreePath: tree.path,
        branch: tree.branch,
        baseCommit: await gitText(primary, ["rev-parse", "--verify", `refs/heads/${team.baseBranch}^{commit}`]),
        backendType: "process",
        epoch: 1,
        planModeRequired: team.plan !== undefined,
        permissionMode,
      };
  await bus.roster.update((now) => {
    // Of two who come by one name at once, one is it; the lead may have started the member meanwhile, too.
    const taken = now.members.find((member) => member.name === name)?.epoch !== known?.epoch;
    const wrong = taken ? `${name} was started by somebody else just now.` : known ? undefined : badMemberName(name, now);
    if (wrong) throw new UserError(wrong);
    return { ...now, members: [...now.members.filter((member) => member.name !== name), info] };
  });
  await makeInbox(teamLayout(folder), name);
  const { signal } = new AbortController();
  if (!known) await makeMemberTree(info, ground, signal);
  else if (!(await exists(info.worktreePath))) await restoreMember(info, ground, signal);
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
