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
  readonly #untilLeadIsGone: (signal: AbortSignal) => Promise<void>;
  readonly #open = new Map<string, (response: Response) => void>();
  /** Of the lead, by question: one may be here before the question is open. */
  readonly #answers = new Map<string, Response>();

  constructor(
    mailbox: Mailbox,
    alwaysRule: (request: PermissionRequest, decision: PermissionDecision) => Promise<string | undefined>,
    /** What the member waits for, for its status; undefined when it goes on. */
    onWait: (what: string | undefined) => Promise<void>,
    /** Resolves when no lead lives, or on abort. A question to a lead that is gone is lost with it. */
    untilLeadIsGone: (signal: AbortSignal) => Promise<void>,
    ownPane?: AskHuman,
  ) {
    this.#onWait = onWait;
    this.#untilLeadIsGone = untilLeadIsGone;
    this.#mailbox = mailbox;
    this.#alwaysRule = alwaysRule;
    this.#ownPane = ownPane;
  }

  /** For the mail reader: an answer from the lead. */
  answer(requestId: string, response: Response): void {
    this.#answers.set(requestId, response);
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
    const fromLead = new Promise<HumanAnswer | undefined>((resolve, reject) => {
      // With feedback the lead says why nobody there answered: that is no denial by a person.
      const settle = ({ approve, feedback }: Response) => resolve(approve ? "yes" : feedback === undefined ? "no" : undefined);
      this.#open.set(id, settle);
      const early = this.#answers.get(id);
      if (early) settle(early);
      both.addEventListener("abort", () => resolve(undefined), { once: true });
      this.#untilLeadIsGone(both).then(() => resolve(undefined), reject);
    });
    try {
      const answer = await firstAnswer([fromLead, ...(this.#ownPane ? [this.#ownPane(request, decision, both)] : [])]);
      if (this.#open.delete(id) && !this.#answers.delete(id)) await this.#mailbox.send(LEAD, { type: "permission_settled", requestId: id });
      return answer;
    } finally {
      this.#open.delete(id);
      settled.abort();
      await this.#onWait(undefined);
    }
  };
}

/** A side at which nobody is (its input is at its end) leaves the answer to the other; undefined when nobody is at either. */
function firstAnswer(sides: readonly Promise<HumanAnswer | undefined>[]): Promise<HumanAnswer | undefined> {
  let open = sides.length;
  return new Promise((resolve, reject) => {
    for (const side of sides)
      side.then((answer) => {
        open -= 1;
        if (answer !== undefined || open === 0) resolve(answer);
      }, reject);
  });
}
