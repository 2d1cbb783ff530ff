import { type Envelope, LEAD, type TeamMessage } from "../protocol/team.ts";

/** Who may send what: "down" from the lead (or the human at its terminal) only, "up" to the lead only. */
const DIRECTION: Record<TeamMessage["type"], "any" | "down" | "up"> = {
  message: "any",
  status_update: "any",
  task_assignment: "down",
  shutdown_request: "down",
  plan_approval_response: "down",
  permission_response: "down",
  idle_notification: "up",
  shutdown_response: "up",
  plan_approval_request: "up",
  permission_request: "up",
  permission_settled: "up",
};

/** Undefined when the sender may send this to `self`. */
export function wrongRole({ from, body }: Envelope, self: string): string | undefined {
  if (from === self) return `${self} does not write to itself`;
  const direction = DIRECTION[body.type];
  if (direction === "down" && from !== LEAD) return `only the lead may send ${body.type}, this one is from ${from}`;
  if (from !== LEAD && "interrupt" in body && body.interrupt) return `only the lead may interrupt, this one is from ${from}`;
  if (direction === "up" && self !== LEAD) return `${body.type} goes to the lead, not to ${self}`;
  return undefined;
}
