import { TmuxClient } from "./tmux-client.ts";
import type { Pane } from "./tmux-panes.ts";
import { TeamWindows } from "./tmux-windows.ts";

export type FoundPane = { pane: Pane; socketArgs: readonly string[] };

/** A living pane of the team, on the server around this program or on the person's usual one. */
export async function findTeamPane(team: string, env: NodeJS.ProcessEnv): Promise<FoundPane | undefined> {
  const { isOurs } = new TeamWindows(team, undefined);
  for (const socketArgs of [...(env.TMUX ? [["-S", socketOf(env.TMUX)]] : []), []]) {
    const panes = await new TmuxClient(socketArgs, env).panes();
    const pane = panes.find((one) => isOurs(one) && !one.isDead);
    if (pane) return { pane, socketArgs };
  }
  return undefined;
}

/** `$TMUX` is the socket's path, the server's pid and a session's number; the path itself may hold commas. */
export function socketOf(tmux: string): string {
  return tmux.split(",").slice(0, -2).join(",");
}
