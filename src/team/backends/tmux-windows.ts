import { mark } from "./tmux-names.ts";
import type { Pane } from "./tmux-panes.ts";

/** What on a tmux server belongs to a team, and where its lead is. Marks are options of panes and windows, so a lead that starts again finds them. */
export class TeamWindows {
  readonly teamMark: string;
  /** Undefined outside of tmux. */
  readonly leadPane: string | undefined;
  readonly #windows = new Set<string>();

  constructor(team: string, leadPane: string | undefined) {
    this.teamMark = mark(team);
    this.leadPane = leadPane;
  }

  agentMark(name: string): string {
    return `${this.teamMark}/${mark(name)}`;
  }

  isOurs = (pane: Pane): boolean => pane.agent.startsWith(`${this.teamMark}/`);
  isOurWindow = (window: string): boolean => this.#windows.has(window);

  add(window: string): void {
    this.#windows.add(window);
  }

  learn(panes: readonly Pane[]): void {
    for (const pane of panes) if (pane.team === this.teamMark) this.#windows.add(pane.window);
  }

  lead(panes: readonly Pane[]): Pane | undefined {
    const lead = panes.find((pane) => pane.id === this.leadPane);
    if (this.leadPane !== undefined && !lead)
      throw new Error(`The lead's own pane ${this.leadPane} is not on the tmux server that TMUX names.`);
    return lead;
  }
}
