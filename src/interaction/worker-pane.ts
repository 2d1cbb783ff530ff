import type { AgentEvent } from "../protocol/agent.ts";
import type { MemberStatus } from "../protocol/team.ts";
import type { WorkerScreen } from "../runtime/start-worker.ts";
import { retryText } from "../team/agent-presence.ts";
import { BottomRow } from "./bottom-row.ts";
import { PlainScreen } from "./plain.ts";
import type { Terminal } from "./terminal.ts";

type Parts = {
  name: string;
  team: string;
  terminal: Terminal;
  /** Somebody may sit there, and answers. */
  isTerminal: boolean;
  /** One who is served by lines alone: a screen reader, a recording. */
  isPlain: boolean;
};

/** A teammate's own terminal: what it says and does, and in the last row who it is, its task and what it waits for. */
export class WorkerPane implements Disposable {
  readonly #parts: Parts;
  readonly #screen: PlainScreen;
  #row: BottomRow | undefined;
  #status: MemberStatus = "starting";
  #task: string | undefined;
  #waits: string | undefined;
  /** That are open. */
  #questions = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#screen = new PlainScreen(parts.terminal);
    this.#screen.line(`${parts.name}, teammate in team "${parts.team}"`);
    if (parts.isTerminal && !parts.isPlain) {
      this.#row = new BottomRow(parts.terminal.output, parts.terminal.isScreen);
      parts.terminal.input.on("keypress", this.#onKey);
    }
    this.#show();
  }

  get screen(): WorkerScreen {
    const screen = this.#screen;
    return {
      settings: ({ screen: wish }) => {
        if (wish === "plain") this.#noRow();
      },
      event: (event) => this.#event(event),
      status: (status, detail) => {
        this.#status = status;
        screen.dim(`[${status}${detail ? `: ${detail}` : ""}]`);
        this.#show();
      },
      task: (task) => {
        if (task === this.#task) return;
        this.#task = task;
        if (!this.#row && task !== undefined) screen.dim(`Now ${task}`);
        this.#show();
      },
      waits: (what) => {
        if (!this.#row && what !== undefined) screen.dim(`It waits for ${what}`);
        this.#waitFor(what);
      },
      note: (text) => {
        screen.dim(text);
        this.#show();
      },
      ...(this.#parts.isTerminal
        ? {
            askHuman: (request, decision, signal) => this.#redrawn(screen.askPermission(request, decision, undefined, signal)),
            askUser: (question, options, signal) => this.#redrawn(screen.choose(question, options, signal)),
          }
        : {}),
    };
  }

  #event(event: AgentEvent): void {
    this.#screen.event(event);
    if (event.type === "retry" && event.reason === undefined) this.#waitFor(`its model (${retryText(event)})`);
    else if (event.type === "stream_text" || event.type === "tool_use" || event.type === "loop_complete") this.#waitFor(undefined);
    else this.#show();
  }

  #waitFor(what: string | undefined): void {
    this.#waits = what;
    this.#show();
  }

  /** The input's line clears what stands below it. */
  #redrawn<Answer>(asked: Promise<Answer>): Promise<Answer> {
    this.#questions += 1;
    this.#row?.draw();
    return asked.finally(() => {
      this.#questions -= 1;
      this.#row?.draw();
    });
  }

  readonly #onKey = () => this.#row?.draw();

  #show(): void {
    const { name, team } = this.#parts;
    const waits = this.#waits ?? (this.#status === "idle" ? "messages" : undefined);
    const state = waits === undefined ? this.#status : `waits for ${waits}`;
    const parts = [name, `team ${team}`, this.#task ?? "no task", state];
    this.#row?.show(` ${parts.join(" · ")}`);
    if (this.#questions > 0) this.#row?.draw();
  }

  #noRow(): void {
    this.#row?.[Symbol.dispose]();
    this.#row = undefined;
  }

  [Symbol.dispose](): void {
    this.#parts.terminal.input.off("keypress", this.#onKey);
    this.#noRow();
    this.#screen.close();
  }
}
