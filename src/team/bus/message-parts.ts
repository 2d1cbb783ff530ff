import type { TeamMessage } from "../../protocol/team.ts";

/** For information only: it wakes nobody. */
export function isNews(body: TeamMessage): boolean {
  return body.type === "status_update";
}

/** One line of what a message is about, for lists. */
export function previewOf(body: TeamMessage): string {
  switch (body.type) {
    case "message":
    case "task_assignment":
    case "status_update":
      return body.summary;
    case "idle_notification":
      return `idle: ${body.reason}`;
    case "plan_approval_request":
      return "asks for the approval of its plan";
    case "shutdown_request":
      return firstLine(body.text);
    case "permission_request":
      return firstLine(`${body.request.tool}(${body.request.access.subject})`);
    case "permission_settled":
      return "its question is answered";
    case "plan_approval_response":
      return body.approve ? "your plan is approved" : "change your plan";
    case "shutdown_response":
    case "permission_response":
      return body.approve ? "yes" : "no";
  }
}

function firstLine(text: string): string {
  return (text.split("\n", 1)[0] ?? "").slice(0, 100);
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
