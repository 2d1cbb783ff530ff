import { basename } from "node:path";
import { LEAD, type Mailbox, type TeamStep } from "../protocol/team.ts";
import type { BadMail } from "./bus/bad-mail.ts";

type Options = {
  self: string;
  onStep: (step: TeamStep) => void;
  onProblem: (text: string) => void;
  /** Of this member, once it is open. */
  mailbox: () => Mailbox;
};

/** What a member does about mail that was set aside: one line in the team's log for each, and one word to the lead in all. */
export function onRejectedMail({ self, onStep, onProblem, mailbox }: Options): (bad: BadMail) => void {
  let isTold = self === LEAD;
  return ({ file, reason, from }) => {
    onStep({ type: "mail_rejected", name: self, file, reason, ...(from === undefined ? {} : { from }) });
    if (isTold) return;
    isTold = true;
    const told = mailbox().send(LEAD, {
      type: "status_update",
      summary: "mail that proves nothing was set aside",
      text: `${self} set aside ${basename(file)}: ${reason}. It was not acted on. This is said once; the team's log names each such file.`,
    });
    told.catch((error: unknown) =>
      onProblem(`The lead could not be told of bad mail: ${error instanceof Error ? error.message : String(error)}`),
    );
  };
}
