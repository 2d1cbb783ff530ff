import type { AskHuman, HumanAnswer, PermissionDecision, PermissionRequest } from "../protocol/permission.ts";
import { LEAD, type Mailbox } from "../protocol/team.ts";
import type { LeadAnswers } from "./lead-answers.ts";

type RelayParts = {
  mailbox: Mailbox;
  answers: LeadAnswers;
  alwaysRule: (request: PermissionRequest, decision: PermissionDecision) => Promise<string | undefined>;
  /** What the member waits for, for its status; undefined when it goes on. */
  onWait: (what: string | undefined) => Promise<void>;
  ownPane?: AskHuman | undefined;
};

/**
 * A teammate's question, asked in its own pane and in the lead's terminal at once; the first answer wins and ends the other.
 * "Always" in the lead's terminal is the lead's matter: it writes the rule, then answers yes.
 */
export function permissionRelay({ mailbox, answers, alwaysRule, onWait, ownPane }: RelayParts): AskHuman {
  return async (request, decision, signal) => {
    const settled = new AbortController();
    const both = AbortSignal.any([signal, settled.signal]);
    const rule = await alwaysRule(request, decision);
    // The subject says it; a whole file's content is no mail.
    const { call: _, ...asked } = request;
    using question = await answers.open(() =>
      mailbox.send(LEAD, {
        type: "permission_request",
        request: asked,
        reason: decision.reason,
        ...(rule === undefined ? {} : { alwaysRule: rule }),
      }),
    );
    await onWait(`an answer: ${request.tool}(${request.access.subject.slice(0, 80)})`);
    const fromLead = async (): Promise<HumanAnswer | undefined> => {
      const answer = await question.answer(both);
      if (answer === undefined) return undefined;
      // With feedback the lead says why nobody there answered: that is no denial by a person.
      return answer.approve ? "yes" : answer.feedback === undefined ? "no" : undefined;
    };
    try {
      const answer = await firstAnswer([fromLead(), ...(ownPane ? [ownPane(request, decision, both)] : [])]);
      if (!question.isAnswered()) await mailbox.send(LEAD, { type: "permission_settled", requestId: question.id });
      return answer;
    } finally {
      settled.abort();
      await onWait(undefined);
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
