import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { Plan } from "../../../src/interaction/acp/plan.ts";
import { requireShape } from "../../support/acp-schema.ts";

test("a team's tasks are the plan, the whole of it at each change; a failure is said in words", () => {
  const told: SessionUpdate[] = [];
  const plan = new Plan((update) => told.push(update));
  plan.step({ type: "task", id: "1", status: "pending", subject: "Limits" });
  plan.step({ type: "ready", name: "alice", pid: 1 });
  plan.step({ type: "task", id: "2", status: "in_progress", subject: "Login", owner: "bob" });
  plan.step({ type: "task", id: "1", status: "failed", subject: "Limits", owner: "alice" });
  expect(told).toHaveLength(3);
  expect(told.at(-1)).toEqual({
    sessionUpdate: "plan",
    entries: [
      { content: "Limits (alice): failed", priority: "medium", status: "completed" },
      { content: "Login (bob)", priority: "medium", status: "in_progress" },
    ],
  });
  for (const update of told) requireShape("SessionNotification", { sessionId: "s", update });
});
