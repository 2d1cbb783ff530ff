import { LEAD, type TeamConfig, type TeamMessage } from "../../protocol/team.ts";

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

/** The field of a message that may be long, if it has one. */
export function longText(body: TeamMessage): { text: string; replace(text: string): TeamMessage } | undefined {
  switch (body.type) {
    case "message":
    case "task_assignment":
    case "status_update":
    case "plan_approval_request":
    case "shutdown_request":
      return { text: body.text, replace: (text) => ({ ...body, text }) };
    case "idle_notification":
      return { text: body.lastText, replace: (lastText) => ({ ...body, lastText }) };
    case "plan_approval_response":
    case "shutdown_response":
    case "permission_response":
      return { text: body.feedback ?? "", replace: (feedback) => ({ ...body, feedback }) };
    case "permission_request":
    case "permission_settled":
      return undefined;
  }
}
