import { gitText } from "../../platform/git.ts";
import type { AgentEvent } from "../../protocol/agent.ts";
import { dollars } from "../../runtime/cost-text.ts";
import type { OpenedSession } from "../../runtime/open-session.ts";

type Watched = Pick<OpenedSession, "model" | "mode" | "agent" | "spending" | "surroundings" | "subagents">;

/** The words of the bottom line. What costs something to find is found when an answer is whole, not with each picture. */
export class SessionStatus {
  readonly #redraw: () => void;
  #session: Watched | undefined;
  #used = "";
  #cost = "";
  #branch = "";

  constructor(redraw: () => void) {
    this.#redraw = redraw;
  }

  of(session: Watched): void {
    this.#session = session;
    this.#count();
    void this.#findBranch(session.surroundings.cwd);
  }

  observe(event: AgentEvent): void {
    if (event.type === "message" || event.type === "compacted") this.#count();
    else if (event.type === "loop_complete" && this.#session) void this.#findBranch(this.#session.surroundings.cwd);
  }

  /** By weight: the last are left out first. */
  parts(): string[] {
    const session = this.#session;
    if (!session) return [];
    const helpers = session.subagents.running.length;
    return [
      session.mode(),
      session.model(),
      ...(this.#used === "" ? [] : [this.#used]),
      ...(this.#cost === "" ? [] : [this.#cost]),
      ...(helpers === 0 ? [] : [`${helpers} in the background`]),
      ...(this.#branch === "" ? [] : [this.#branch]),
    ];
  }

  #count(): void {
    const report = this.#session?.agent.report();
    this.#used = report ? `${Math.round((100 * report.used) / report.window)} % of the window` : "";
    const spending = this.#session?.spending;
    this.#cost = spending?.isPriced && spending.cost > 0 ? dollars(spending.cost) : "";
  }

  async #findBranch(cwd: string): Promise<void> {
    // Outside of a repository there is none.
    this.#branch = await gitText(cwd, ["branch", "--show-current"]).catch(() => "");
    this.#redraw();
  }
}
