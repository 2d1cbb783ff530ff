import type { TeamBus, TeamMessage } from "../protocol/team.ts";
import type { LeadScreen } from "./lead-screen.ts";
import type { Permissions } from "./permissions.ts";

type Options = {
  bus: Pick<TeamBus, "mailbox" | "roster">;
  screen: Pick<LeadScreen, "askHuman" | "askPlan" | "note">;
  /** The lead's: an "always" becomes a rule of the project. */
  permissions: Pick<Permissions, "writeAlways">;
  signal: AbortSignal;
};

const NOBODY = {
  approve: false,
  feedback: "Nobody is here to approve plans. Leave it open, change nothing, and end your turn with a summary of the plan.",
};

/** What members ask the person at the lead's terminal. It goes on beside the caller: a question must not hold up the mail. */
export class MemberQuestions {
  readonly #options: Options;
  readonly #open = new Map<string, AbortController>();

  constructor(options: Options) {
    this.#options = options;
  }

  askPermission(requestId: string, from: string, body: Extract<TeamMessage, { type: "permission_request" }>): void {
    this.#beside(`The question of ${from}`, () => this.#answerPermission(requestId, from, body));
  }

  /** It was answered in the member's own pane. */
  settle(requestId: string): void {
    this.#open.get(requestId)?.abort();
  }

  askPlan(requestId: string, from: string, plan: string): void {
    this.#beside(`The plan of ${from}`, () => this.#answerPlan(requestId, from, plan));
  }

  #beside(what: string, answer: () => Promise<void>): void {
    answer().catch((error: unknown) => {
      this.#options.screen.note(`${what} could not be answered: ${error instanceof Error ? error.message : String(error)}`);
    });
  }

  async #answerPermission(requestId: string, from: string, body: Extract<TeamMessage, { type: "permission_request" }>): Promise<void> {
    const { bus, screen, permissions, signal } = this.#options;
    const open = new AbortController();
    this.#open.set(requestId, open);
    const decision = { decision: "ask", sticky: false, layer: "mode", reason: body.reason } as const;
    const question = { ...body.request, agent: from };
    const answer = await screen
      .askHuman?.(body.alwaysRule, question, decision, AbortSignal.any([signal, open.signal]))
      .finally(() => this.#open.delete(requestId));
    if (open.signal.aborted || signal.aborted) return;
    if (answer === "always") {
      // The rule that was shown is the member's: paths in it begin at its worktree.
      const root = (await bus.roster.read()).members.find((member) => member.name === from)?.worktreePath;
      await permissions.writeAlways(question, decision, root).catch((error: unknown) => {
        screen.note(`The rule was not written: ${error instanceof Error ? error.message : String(error)}`);
      });
    }
    const approve = answer === "yes" || answer === "always";
    const nobody = answer === undefined ? { feedback: "nobody answered" } : {};
    await bus.mailbox.send(from, { type: "permission_response", requestId, approve, ...nobody });
  }

  async #answerPlan(requestId: string, from: string, plan: string): Promise<void> {
    const { bus, screen, signal } = this.#options;
    const answer = (await screen.askPlan?.(from, plan, signal)) ?? NOBODY;
    if (!signal.aborted) await bus.mailbox.send(from, { type: "plan_approval_response", requestId, ...answer });
  }
}
