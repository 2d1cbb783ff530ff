import { LEAD, type TeamConfig } from "../../protocol/team.ts";

/** A send that can't be: the text is for whoever wanted to send, a model as a rule. */
export class CannotSend extends Error {
  override readonly name = "CannotSend";
}

export function memberNames(team: TeamConfig): string[] {
  return [LEAD, ...team.members.map((member) => member.name)];
}

export function checkRecipient(from: string, to: string, team: TeamConfig): void {
  if (to === from) throw new CannotSend(`You are ${from} yourself: a message goes to somebody else.`);
  const names = memberNames(team);
  if (!names.includes(to)) throw new CannotSend(`"${to}" is not in this team. Members: ${names.join(", ")}.`);
}
