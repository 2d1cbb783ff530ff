export type TmuxCommand = readonly string[];

/** What tmux says of a pane and of the window around it. `agent` and `team` are our marks, empty on what is not ours. */
export type Pane = {
  id: string;
  window: string;
  session: string;
  pid: number;
  isDead: boolean;
  status?: number;
  signal?: number;
  width: number;
  height: number;
  isZoomed: boolean;
  /** The server's own pid. */
  server: number;
  agent: string;
  team: string;
};

export const AGENT_MARK = "@roocode_agent";
export const TEAM_MARK = "@roocode_team";
export const LIST_PANES: TmuxCommand = [
  "list-panes",
  "-a",
  "-F",
  `#{pane_id}|#{window_id}|#{session_id}|#{pane_pid}|#{pane_dead}|#{pane_dead_status}|#{pane_dead_signal}|#{window_width}|#{window_height}|#{window_zoomed_flag}|#{pid}|#{${AGENT_MARK}}|#{${TEAM_MARK}}`,
];

/**
 * A pane's first program: it waits, whatever is typed, until `respawn-pane -k` puts the real one in its place, or until the maker is gone:
 * such a pane has no mark yet, so nobody would ever close it. Without a `sleep` on PATH it waits all the same.
 */
export function hold(maker = process.pid): TmuxCommand {
  return ["/bin/sh", "-c", `trap '' INT QUIT; while kill -0 ${maker} 2>/dev/null; do sleep 1 2>/dev/null || read -r line; done`];
}

export function readPanes(printed: string): Pane[] {
  const panes = new Map<string, Pane>();
  for (const line of printed.split("\n")) {
    const [id = "", window = "", session = "", pid, dead, status, signal, width, height, zoomed, server, agent = "", team = ""] =
      line.split("|");
    // A window that is linked into several sessions is listed once for each.
    if (!id.startsWith("%") || panes.has(id)) continue;
    panes.set(id, {
      id,
      window,
      session,
      pid: Number(pid),
      isDead: dead === "1",
      ...(status ? { status: Number(status) } : {}),
      ...(signal ? { signal: Number(signal) } : {}),
      width: Number(width),
      height: Number(height),
      isZoomed: zoomed === "1",
      server: Number(server),
      agent,
      team,
    });
  }
  return [...panes.values()];
}
