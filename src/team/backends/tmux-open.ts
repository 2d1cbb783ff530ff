import type { TeammateInfo } from "../../protocol/team.ts";
import {
  AGENT_MARK,
  HOLD,
  LIST_PANES,
  literal,
  mark,
  type Pane,
  readPanes,
  safeFolder,
  TEAM_MARK,
  type TmuxClient,
  type TmuxCommand,
  TmuxError,
} from "./tmux-client.ts";
import { arrange, choosePlaces, type Layout, type Place } from "./tmux-layout.ts";

type Request = { teammate: TeammateInfo; command: readonly string[] };
type Waiting = Request & { done: (pane: Pane) => void; failed: (error: unknown) => void };
type Opened = { request: Waiting; paneId: string; madeWindow?: string };
type Options = {
  client: TmuxClient;
  team: string;
  teamMark: string;
  leadPane: string | undefined;
  layout: Layout;
  onNote: (text: string) => void;
};

const DETACHED_SIZE = ["-x", "240", "-y", "67"];
const OPENED = "+#{pane_id} #{window_id} #{session_name}";

/**
 * Opens panes and starts programs in them. Requests that come while tmux is busy go together: one call makes their panes, one sets
 * the panes' options and puts the programs in.
 */
export class PaneOpener {
  readonly #options: Options;
  readonly #windows = new Set<string>();
  readonly #full = new Set<string>();
  #waiting: Waiting[] = [];
  #isTold = false;

  constructor(options: Options) {
    this.#options = options;
  }

  open(request: Request): Promise<Pane> {
    return new Promise((done, failed) => {
      this.#waiting.push({ ...request, done, failed });
      void this.#options.client.exclusive(() => this.#openWaiting());
    });
  }

  isOurs = (pane: Pane): boolean => pane.agent.startsWith(`${this.#options.teamMark}/`);
  isOurWindow = (window: string): boolean => this.#windows.has(window);

  async #openWaiting(): Promise<void> {
    const batch = this.#waiting;
    this.#waiting = [];
    if (batch.length === 0) return;
    try {
      const opened = await this.#makePanes(batch);
      await this.#startPrograms(opened);
    } catch (error) {
      for (const request of batch) request.failed(error);
    }
  }

  async #makePanes(batch: readonly Waiting[]): Promise<Opened[]> {
    const { client, leadPane, layout, teamMark } = this.#options;
    const opened: Opened[] = [];
    let panes = await client.panes();
    if (leadPane !== undefined && !panes.some((pane) => pane.id === leadPane))
      throw new Error(`The lead's own pane ${leadPane} is not on the tmux server that TMUX names.`);
    for (let fruitless = 0; opened.length < batch.length; ) {
      const { isOurWindow } = this;
      for (const pane of panes) if (pane.team === teamMark) this.#windows.add(pane.window);
      const fresh = new Set(opened.map((one) => one.paneId));
      const isOurs = (pane: Pane) => fresh.has(pane.id) || this.isOurs(pane);
      const waiting = batch.slice(opened.length);
      const places = choosePlaces(waiting.length, { panes, leadPane, layout, isOurs, isOurWindow, full: this.#full });
      const lead = panes.find((pane) => pane.id === leadPane);
      const commands = places.flatMap((place, index) => this.#make(place, waiting[index]?.teammate.worktreePath ?? "/", lead));
      let problem: TmuxError | undefined;
      const printed = await client.run(...commands, LIST_PANES).catch((error: unknown) => {
        if (!(error instanceof TmuxError)) throw error;
        problem = error;
        return error.stdout;
      });
      const made = printed.split("\n").filter((line) => line.startsWith("+"));
      for (const [index, line] of made.entries()) {
        const [paneId = "", window = "", ...session] = line.slice(1).split(" ");
        const request = waiting[index];
        if (!request) continue;
        const isNew = places[index]?.type !== "split";
        if (isNew) this.#windows.add(window);
        opened.push({ request, paneId, ...(isNew ? { madeWindow: window } : {}) });
        if (isNew) await this.#tell(window, session.join(" "));
      }
      if (!problem) {
        panes = readPanes(printed);
        continue;
      }
      const place = places[made.length];
      if (place?.type === "split") this.#full.add(place.window);
      fruitless = made.length > 0 ? 0 : fruitless + 1;
      if (fruitless > 3) throw problem;
      panes = await client.panes();
    }
    return opened;
  }

  #make(place: Place, folder: string, lead: Pane | undefined): TmuxCommand[] {
    const name = literal(`roocode-${this.#options.team}`);
    const common = ["-d", "-P", "-F", OPENED, "-c", safeFolder(folder)];
    switch (place.type) {
      case "split":
        return [
          ["split-window", ...common, "-t", `${place.window}.{bottom-right}`, ...HOLD],
          ...arrange(place.window, place.withLead ? lead : undefined),
        ];
      case "window":
        return [["new-window", ...common, "-t", `${place.session}:`, "-n", name, ...HOLD]];
      case "session":
        return [["new-session", ...common, "-s", name, "-n", name, ...DETACHED_SIZE, ...HOLD]];
    }
  }

  async #startPrograms(opened: readonly Opened[]): Promise<void> {
    const { client } = this.#options;
    const panes = readPanes(await client.run(...opened.flatMap((one) => this.#start(one)), LIST_PANES));
    for (const { request, paneId } of opened) {
      const pane = panes.find((one) => one.id === paneId);
      if (pane) request.done(pane);
      else request.failed(new Error(`its pane ${paneId} was closed`));
    }
  }

  #start({ request, paneId, madeWindow }: Opened): TmuxCommand[] {
    const { teamMark } = this.#options;
    const { teammate, command } = request;
    const ofWindow = madeWindow
      ? [
          ["set-option", "-w", "-t", madeWindow, TEAM_MARK, teamMark],
          ["set-option", "-w", "-t", madeWindow, "monitor-activity", "off"],
          ["set-option", "-w", "-t", madeWindow, "pane-border-status", "top"],
          ["set-option", "-w", "-t", madeWindow, "pane-border-format", " #{pane_title} "],
        ]
      : [];
    return [
      ...ofWindow,
      ["set-option", "-p", "-t", paneId, "remain-on-exit", "on"],
      // Keys for the lead must not answer a teammate's question.
      ["set-option", "-p", "-q", "-t", paneId, "synchronize-panes", "off"],
      ["select-pane", "-t", paneId, "-T", literal(teammate.name)],
      ["respawn-pane", "-k", "-t", paneId, ...(command.length > 1 ? command : ["env", ...command])],
      // Behind the start: a pane with the mark has its program.
      ["set-option", "-p", "-t", paneId, AGENT_MARK, `${teamMark}/${mark(teammate.name)}`],
    ];
  }

  async #tell(window: string, session: string): Promise<void> {
    const { client, team, leadPane, onNote } = this.#options;
    if (this.#isTold) return;
    this.#isTold = true;
    if (leadPane === undefined) {
      onNote(
        `The teammates of "${team}" are in a tmux session of their own. To see them: ${["tmux", ...client.address()].join(" ")} attach -t '=${session}'`,
      );
      return;
    }
    const [index = "", prefix = "C-b"] = (
      await client.run(["display-message", "-p", "-t", window, "#{window_index}"], ["show-options", "-A", "-v", "-t", leadPane, "prefix"])
    ).split("\n");
    onNote(`The teammates of "${team}" are in tmux window ${index}. To see it: ${prefix} ${index.length > 1 ? `' ${index} Enter` : index}`);
  }
}
