import type { Pane, TmuxCommand } from "./tmux-panes.ts";

export type Layout = "auto" | "split" | "window";
/** Where panes go: behind others in a window, a window of the team's own, or a session of the team's own. */
export type Place = { type: "split"; window: string; withLead: boolean } | { type: "window"; session: string } | { type: "session" };

const MAX_WITH_LEAD = 3;
const MAX_IN_WINDOW = 6;
/** Two halves of 80 columns; by `--layout split` two of 40. */
const MIN_COLUMNS_WITH_LEAD = { auto: 160, split: 80 };
const MIN_PANE = { columns: 30, rows: 6 };

export type Ground = {
  panes: readonly Pane[];
  /** Undefined outside of tmux. */
  lead: Pane | undefined;
  layout: Layout;
  isOurs: (pane: Pane) => boolean;
  isOurWindow: (window: string) => boolean;
  /** Windows in which tmux found no space. */
  full: ReadonlySet<string>;
};

/** Places for `count` panes, fewer when the rest fit into windows that this makes. */
export function choosePlaces(count: number, ground: Ground): Place[] {
  const { panes, lead, layout } = ground;
  const places: Place[] = [];
  if (lead && layout !== "window" && !ground.full.has(lead.window)) {
    const around = panes.filter((pane) => pane.window === lead.window && pane.id !== lead.id);
    const isFit = around.every(ground.isOurs) && lead.width >= MIN_COLUMNS_WITH_LEAD[layout] && !lead.isZoomed;
    if (isFit)
      for (let used = around.length; used < MAX_WITH_LEAD; used++) places.push({ type: "split", window: lead.window, withLead: true });
  }
  const windows = new Map(panes.filter((pane) => ground.isOurWindow(pane.window)).map((pane) => [pane.window, pane]));
  for (const [window, pane] of windows) {
    if (ground.full.has(window)) continue;
    const used = panes.filter((one) => one.window === window).length;
    for (let next = used; next < capacity(pane); next++) places.push({ type: "split", window, withLead: false });
  }
  const anchor = lead ?? windows.values().next().value;
  const rest = count - places.length;
  if (rest > 0 && !anchor) places.push({ type: "session" });
  if (rest > 0 && anchor) {
    for (let made = 0; made < Math.ceil(rest / capacity(anchor)); made++) places.push({ type: "window", session: anchor.session });
  }
  return places.slice(0, count);
}

function capacity({ width, height }: Pane): number {
  return Math.max(1, Math.min(MAX_IN_WINDOW, Math.floor(width / MIN_PANE.columns) * Math.floor(height / MIN_PANE.rows)));
}

/** The lead's half at the left, teammates below each other at the right; without the lead all alike. */
export function arrange(window: string, lead: Pane | undefined): TmuxCommand[] {
  if (lead?.window !== window) return [["select-layout", "-t", window, "tiled"]];
  return [
    ["select-layout", "-t", window, "main-vertical"],
    ["resize-pane", "-t", lead.id, "-x", String(Math.floor(lead.width / 2))],
  ];
}
