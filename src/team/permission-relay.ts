import type { AskHuman, HumanAnswer, PermissionDecision, PermissionRequest } from "../protocol/permission.ts";
import { LEAD, type Mailbox } from "../protocol/team.ts";

type Response = { approve: boolean; feedback?: string };

/**
 * A teammate's question, asked in its own pane and in the lead's terminal at once; the first answer wins and ends the other.
 * "Always" in the lead's terminal is the lead's matter: it writes the rule, then answers yes.
 */
export class PermissionRelay {
  readonly #mailbox: Mailbox;
  readonly #ownPane: AskHuman | undefined;
  readonly #alwaysRule: (request: PermissionRequest, decision: PermissionDecision) => Promise<string | undefined>;
  readonly #onWait: (what: string | undefined) => Promise<void>;
  readonly #open = new Map<string, (response: Response) => void>();
  readonly #answered = new Set<string>();

  constructor(
    mailbox: Mailbox,
    alwaysRule: (request: PermissionRequest, decision: PermissionDecision) => Promise<string | undefined>,
    /** What the member waits for, for its status; undefined when it goes on. */
    onWait: (what: string | undefined) => Promise<void>,
    ownPane?: AskHuman,
  ) {
    this.#onWait = onWait;
    this.#mailbox = mailbox;
    this.#alwaysRule = alwaysRule;
    this.#ownPane = ownPane;
  }

  /** For the mail reader: an answer from the lead. */
  answer(requestId: string, response: Response): void {
    this.#answered.add(requestId);
    this.#open.get(requestId)?.(response);
  }

  readonly ask: AskHuman = async (request, decision, signal) => {
    const settled = new AbortController();
    const both = AbortSignal.any([signal, settled.signal]);
    const alwaysRule = await this.#alwaysRule(request, decision);
    const id = await this.#mailbox.send(LEAD, {
      type: "permission_request",
      request,
      reason: decision.reason,
      ...(alwaysRule === undefined ? {} : { alwaysRule }),
    });
    await this.#onWait(`an answer: ${request.tool}(${request.access.subject.slice(0, 80)})`);
    const fromLead = new Promise<HumanAnswer | undefined>((resolve) => {
      this.#open.set(id, ({ approve }) => resolve(approve ? "yes" : "no"));
      both.addEventListener("abort", () => resolve(undefined), { once: true });
    });
    try {
      const answers = [fromLead];
      // A pane whose input is at its end answers nothing; the lead's terminal still may.
      if (this.#ownPane) answers.push(this.#ownPane(request, decision, both).then((answer) => answer ?? fromLead));
      const answer = await Promise.race(answers);
      if (this.#open.delete(id) && !this.#answered.delete(id))
        await this.#mailbox.send(LEAD, { type: "permission_settled", requestId: id });
      return answer;
    } finally {
      this.#open.delete(id);
      settled.abort();
      await this.#onWait(undefined);
    }
  };
}
