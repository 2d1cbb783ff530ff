import type { TeammateInfo } from "../../protocol/team.ts";
import { type TmuxClient, TmuxError } from "./tmux-client.ts";
import { arrange, choosePlaces, type Layout, type Place } from "./tmux-layout.ts";
import { literal, safeFolder } from "./tmux-names.ts";
import { AGENT_MARK, hold, LIST_PANES, type Pane, readPanes, TEAM_MARK, type TmuxCommand } from "./tmux-panes.ts";
import type { TeamWindows } from "./tmux-windows.ts";

type Request = { teammate: TeammateInfo; command: readonly string[] };
type Opened = { request: Request; paneId: string; madeWindow?: string; session: string };
/** `stale`: dead panes of an earlier life of the same teammate. */
type Started = { pane: Pane; stale: Pane[] };
type Options = {
  client: TmuxClient;
  windows: TeamWindows;
  team: string;
  layout: Layout;
  onNote: (text: string) => void;
};

const MAX_FRUITLESS = 3;
const DETACHED_SIZE = ["-x", "240", "-y", "67"];
const OPENED = "+#{pane_id} #{window_id} #{session_name}";

/**
 * Opens panes and starts programs in them, in few calls for however many are asked for at once: the first look, one that makes the
 * panes (a second when new windows need more), one that sets the panes' options and puts the programs in.
 */
export class PaneOpener {
  readonly #options: Options;
  /** Windows in which tmux found no space. */
  readonly #full = new Set<string>();
  #isTold = false;
  readonly open: (request: Request) => Promise<Started>;

  constructor(options: Options) {
    this.#options = options;
    this.open = options.client.together((requests) => this.#open(requests));
  }

  async #open(requests: readonly Request[]): Promise<(Started | Error)[]> {
    const opened = await this.#makePanes(requests);
    const started = await this.#startPrograms(opened);
    const shown = opened.find((one) => one.madeWindow !== undefined);
    if (shown?.madeWindow && !this.#isTold) {
      this.#isTold = true;
      await this.#tell(shown.madeWindow, shown.session);
    }
    return started;
  }

  async #makePanes(requests: readonly Request[]): Promise<Opened[]> {
    const { client, windows, layout } = this.#options;
    const opened: Opened[] = [];
    let panes = await client.panes();
    for (let fruitless = 0; opened.length < requests.length; ) {
      windows.learn(panes);
      const lead = windows.lead(panes);
      const fresh = new Set(opened.map((one) => one.paneId));
      const isOurs = (pane: Pane) => fresh.has(pane.id) || windows.isOurs(pane);
      const waiting = requests.slice(opened.length);
      const places = choosePlaces(waiting.length, { panes, lead, layout, isOurs, isOurWindow: windows.isOurWindow, full: this.#full });
      const commands = places.flatMap((place, index) => this.#make(place, waiting[index]?.teammate.worktreePath ?? "/", lead, fruitless));
      const { printed, problem } = await attempt(client, [...commands, LIST_PANES]);
      const made = printed.split("\n").filter((line) => line.startsWith("+"));
      for (const [index, line] of made.entries()) {
        const [paneId = "", window = "", ...session] = line.slice(1).split(" ");
        const [request, place] = [waiting[index], places[index]];
        if (!request || !place) continue;
        const isNew = place.type !== "split";
        if (isNew) windows.add(window);
        opened.push({ request, paneId, session: session.join(" "), ...(isNew ? { madeWindow: window } : {}) });
      }
      if (problem) {
        const refused = places[made.length];
        if (refused?.type === "split") this.#full.add(refused.window);
        fruitless = made.length > 0 ? 0 : fruitless + 1;
        if (fruitless > MAX_FRUITLESS) {
          await this.#drop(opened);
          throw problem;
        }
      }
      panes = problem ? await client.panes() : readPanes(printed);
    }
    return opened;
  }

  #make(place: Place, folder: string, lead: Pane | undefined, refused: number): TmuxCommand[] {
    const name = literal(`roocode-${this.#options.team}`);
    const common = ["-d", "-P", "-F", OPENED, "-c", safeFolder(folder)];
    switch (place.type) {
      case "split":
        return [
          ["split-window", ...common, "-t", `${place.window}.{bottom-right}`, ...hold()],
          ...arrange(place.window, place.withLead ? lead : undefined),
        ];
      case "window":
        return [["new-window", ...common, "-t", `${place.session}:`, "-n", name, ...hold()]];
      case "session":
        // A refused name is taken by another's session.
        return [["new-session", ...common, "-s", refused === 0 ? name : `${name}-${refused + 1}`, "-n", name, ...DETACHED_SIZE, ...hold()]];
    }
  }

  async #startPrograms(opened: readonly Opened[]): Promise<(Started | Error)[]> {
    const { client } = this.#options;
    const { printed, problem } = await attempt(client, [...opened.flatMap((one) => this.#start(one)), LIST_PANES]);
    let panes = readPanes(printed);
    if (problem) {
      // One pane was closed under our hands; those behind it in the call have had nothing yet. A start must not happen twice.
      for (const one of opened) {
        panes = await client.panes();
        const pane = panes.find(({ id }) => id === one.paneId);
        if (pane?.agent === "") await attempt(client, this.#start(one));
      }
      panes = await client.panes();
      await this.#drop(opened.filter(({ paneId }) => panes.some((one) => one.id === paneId && one.agent === "")));
    }
    return opened.map(({ paneId }) => {
      const pane = panes.find((one) => one.id === paneId && one.agent !== "");
      if (!pane) return new Error(`its pane ${paneId} was closed before it started`);
      return { pane, stale: panes.filter((one) => one.agent === pane.agent && one !== pane && one.isDead) };
    });
  }

  /** Panes in which nothing of a teammate has started. */
  async #drop(opened: readonly Opened[]): Promise<void> {
    for (const { paneId } of opened) await attempt(this.#options.client, [["kill-pane", "-t", paneId]]);
  }

  #start({ request, paneId, madeWindow }: Opened): TmuxCommand[] {
    const { windows } = this.#options;
    const { teammate, command } = request;
    const ofWindow = madeWindow
      ? [
          ["set-option", "-w", "-t", madeWindow, TEAM_MARK, windows.teamMark],
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
      ["set-option", "-p", "-t", paneId, AGENT_MARK, windows.agentMark(teammate.name)],
    ];
  }

  async #tell(window: string, session: string): Promise<void> {
    const { client, team, windows, onNote } = this.#options;
    const { leadPane } = windows;
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

async function attempt(client: TmuxClient, commands: readonly TmuxCommand[]): Promise<{ printed: string; problem?: TmuxError }> {
  try {
    return { printed: await client.run(...commands) };
  } catch (error) {
    if (error instanceof TmuxError) return { printed: error.stdout, problem: error };
    throw error;
  }
}
