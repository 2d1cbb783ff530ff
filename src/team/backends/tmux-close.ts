import { type TmuxClient, TmuxError } from "./tmux-client.ts";
import { arrange } from "./tmux-layout.ts";
import { AGENT_MARK, LIST_PANES, type Pane, readPanes } from "./tmux-panes.ts";
import type { TeamWindows } from "./tmux-windows.ts";

/** Closes panes of the team and lays out again what is left around them. An answer is the pane's id once it is gone. */
export function paneCloser(client: TmuxClient, windows: TeamWindows): (pane: Pane) => Promise<string> {
  return client.together(async (panes) => {
    const left = await closeAll(client, panes);
    const closed = panes.map((pane) =>
      left.some((one) => one.id === pane.id && one.agent === pane.agent) ? new Error(`tmux did not close the pane ${pane.id}.`) : pane.id,
    );
    await arrangeAll(client, windows, new Set(panes.map((pane) => pane.window)), left);
    return closed;
  });
}

async function closeAll(client: TmuxClient, panes: readonly Pane[]): Promise<Pane[]> {
  const commands = panes.map((pane) => [
    // tmux compares and closes in one step, so that no pane is closed that has become another's.
    ...["if-shell", "-F", "-t", pane.id, `#{==:#{${AGENT_MARK}},${pane.agent}}`, `kill-pane -t ${pane.id}`],
  ]);
  try {
    return readPanes(await client.run(...commands, LIST_PANES));
  } catch (error) {
    if (!(error instanceof TmuxError)) throw error;
    // With its last pane the server ends; a pane that is gone already stops the call at its place.
    const left = await client.panes();
    const still = panes.filter((pane) => left.some((one) => one.id === pane.id));
    return still.length > 0 && still.length < panes.length ? closeAll(client, still) : left;
  }
}

/** The layout of a window in which the person has panes beside the lead is theirs. */
async function arrangeAll(client: TmuxClient, windows: TeamWindows, touched: ReadonlySet<string>, panes: readonly Pane[]): Promise<void> {
  const lead = panes.find((pane) => pane.id === windows.leadPane);
  const commands = [...touched].flatMap((window) => {
    const inside = panes.filter((pane) => pane.window === window);
    const isTeams = lead?.window === window ? inside.every((pane) => pane === lead || windows.isOurs(pane)) : windows.isOurWindow(window);
    return isTeams && inside.length > 1 ? arrange(window, lead) : [];
  });
  if (commands.length === 0) return;
  try {
    await client.run(...commands);
  } catch (error) {
    // A window that went away meanwhile needs no layout.
    if (!(error instanceof TmuxError)) throw error;
  }
}
