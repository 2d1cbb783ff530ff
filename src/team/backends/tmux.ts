import { processStart } from "../../platform/process.ts";
import { stopTree } from "../../platform/process-tree.ts";
import type { PaneBackend } from "../../protocol/team.ts";
import type { UntilReady } from "./process.ts";
import { TmuxClient } from "./tmux-client.ts";
import { paneCloser } from "./tmux-close.ts";
import { awaitStatus, lastLines } from "./tmux-death.ts";
import { socketOf } from "./tmux-find.ts";
import type { Layout } from "./tmux-layout.ts";
import { PaneOpener } from "./tmux-open.ts";
import type { Pane } from "./tmux-panes.ts";
import { TeamWindows } from "./tmux-windows.ts";

type Options = {
  team: string;
  env: NodeJS.ProcessEnv;
  layout: Layout;
  untilReady: UntilReady;
  onNote: (text: string) => void;
  /** Names another server than the one around the lead: `-L name`, `-f file`. The lead counts as outside of it. */
  socketArgs?: readonly string[];
};

/**
 * Teammates in tmux panes. Inside tmux on the lead's own server, anchored to the lead's pane; outside in a session of the team's own.
 * A pane's id is tmux's `%N`. `state` tells of the pane: it is alive until tmux has seen its program's end and the last
 * output, so a program's child that holds the terminal keeps it alive, and a member may live on after someone closed its pane.
 */
export function tmuxBackend({ team, env, layout, untilReady, onNote, socketArgs }: Options): PaneBackend {
  const leadPane = socketArgs || !env.TMUX ? undefined : env.TMUX_PANE;
  const client = new TmuxClient(socketArgs ?? (leadPane ? ["-S", socketOf(env.TMUX ?? "")] : []), env);
  const windows = new TeamWindows(team, leadPane);
  const opener = new PaneOpener({ client, windows, team, layout, onNote });
  const close = paneCloser(client, windows);

  /** The same id in a later life of the server, or after its pane was closed, is a stranger's. */
  async function ours(paneId: string): Promise<Pane | undefined> {
    return (await client.look(undefined)).find((pane) => pane.id === paneId && windows.isOurs(pane));
  }

  async function kill(paneId: string): Promise<void> {
    const pane = await ours(paneId);
    if (!pane) return;
    // What a dead pane's program left behind is in its group; while that exists, nobody else gets its pid.
    if (!pane.isDead || processStart(pane.pid) === undefined) await stopTree(pane.pid);
    await close(pane);
  }

  return {
    kind: "tmux",
    async spawn(teammate, command) {
      const { pane, stale } = await opener.open({ teammate, command });
      await Promise.all(stale.map(close));
      const startedAt = processStart(pane.pid);
      const isGone = async () => {
        if (startedAt !== undefined && processStart(pane.pid) === startedAt) return undefined;
        return howItEnded(client, pane.id);
      };
      try {
        await untilReady(teammate, isGone);
      } catch (error) {
        await kill(pane.id);
        throw error;
      }
      return pane.id;
    },
    async state(paneId) {
      const pane = await ours(paneId);
      if (pane && !pane.isDead) return { alive: true };
      const { status, signal } = (pane && (await awaitStatus(client, pane))) ?? {};
      return { alive: false, ...(status === undefined ? {} : { status }), ...(signal === undefined ? {} : { signal }) };
    },
    kill,
  };
}

async function howItEnded(client: TmuxClient, paneId: string): Promise<string> {
  const found = (await client.panes()).find((one) => one.id === paneId);
  const pane = found && (await awaitStatus(client, found));
  if (!pane) return "its pane was closed";
  const how =
    pane.status !== undefined
      ? `it ended with exit status ${pane.status}`
      : pane.signal !== undefined
        ? `it was ended by signal ${pane.signal}`
        : "its process is gone";
  const text = await lastLines(client, paneId);
  return text === "" ? `${how} and wrote nothing` : `${how}. Its last lines:\n${text}`;
}
