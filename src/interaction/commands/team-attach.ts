import { spawn } from "node:child_process";
import { UserError } from "../../protocol/errors.ts";
import { teamFolder } from "../../runtime/find-team.ts";
import type { Surroundings } from "../../runtime/surroundings.ts";
import { teamStatus } from "../../runtime/team-status.ts";
import { findTeamPane } from "../../team/backends/tmux-find.ts";
import { showLog } from "./team-look.ts";

/** Brings the person to the panes of a team; to its log where it has none. */
export async function attachTeam({ data, env }: Surroundings, name: string, write: (text: string) => void): Promise<number> {
  const status = await teamStatus(await teamFolder(data, name));
  if (status.members.every(({ pid }) => pid === undefined) && !status.lead?.alive)
    throw new UserError(`Nothing of team "${name}" runs. Go on with it: roocode team resume ${name}`);
  if (!status.members.some((member) => member.backendType === "tmux" && member.pid !== undefined)) {
    process.stderr.write(`The teammates of "${name}" have no panes of tmux; this is the team's log. Ctrl+C ends it.\n`);
    return showLog(data, name, { json: false, follow: true }, write);
  }
  const found = await findTeamPane(name, env);
  if (!found) throw new UserError(`The panes of "${name}" are on a tmux server that neither TMUX nor the default socket leads to.`);
  const target = ["-t", found.pane.id];
  if (env.TMUX) return tmux([...found.socketArgs, "switch-client", ...target], env);
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new UserError(`There is no terminal to show panes in. Look at the team: roocode team status ${name}`);
  return tmux([...found.socketArgs, "attach-session", ...target], env);
}

/** In this terminal. */
function tmux(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn("tmux", args, { stdio: "inherit", env });
    child.on("error", (cause) => reject(new UserError(`tmux could not be started: ${cause.message}`, { cause })));
    child.on("exit", (code) => resolve(code ?? 1));
  });
}
