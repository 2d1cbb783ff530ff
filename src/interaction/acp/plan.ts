import type { PlanEntry, SessionUpdate } from "@agentclientprotocol/sdk";
import type { TeamStep, TeamTask } from "../../protocol/team.ts";

/** The tasks of a team that the conversation started, as the editor's plan: the whole of it each time one changes. */
export class Plan {
  readonly #tell: (update: SessionUpdate) => void;
  readonly #entries = new Map<string, PlanEntry>();

  constructor(tell: (update: SessionUpdate) => void) {
    this.#tell = tell;
  }

  step(step: TeamStep): void {
    if (step.type !== "task") return;
    const { subject, owner, status } = step;
    const content = `${subject}${owner ? ` (${owner})` : ""}${status === "failed" || status === "cancelled" ? `: ${status}` : ""}`;
    this.#entries.set(step.id, { content, priority: "medium", status: statusOf(status) });
    this.#tell({ sessionUpdate: "plan", entries: [...this.#entries.values()] });
  }
}

/** A plan knows no failure: the words say it. */
function statusOf(status: TeamTask["status"]): PlanEntry["status"] {
  switch (status) {
    case "pending":
    case "in_progress":
      return status;
    case "completed":
    case "failed":
    case "cancelled":
      return "completed";
  }
}
