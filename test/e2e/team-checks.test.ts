import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Answer, type Conversation, calls } from "../../src/interaction/demo/conversation.ts";
import { fakeModel } from "../support/fake-model.ts";
import { testHome } from "../support/home.ts";

const CHECKS = ["rm -rf /", 'touch "$HOME/escaped"', "grep -q tested done.txt"];

function lead({ steps }: Conversation): Answer {
  if (calls(steps, "TaskCreate").length === 0)
    return {
      calls: CHECKS.map((check, index) => ({ name: "TaskCreate", input: { subject: `Task ${index + 1}`, description: "x", check } })),
    };
  if (calls(steps, "Agent").length === 0) return { calls: [{ name: "Agent", input: { name: "alice", description: "x", prompt: "Go." } }] };
  return { text: "I wait." };
}

function alice({ steps }: Conversation): Answer {
  const updates = calls(steps, "TaskUpdate");
  const claim = (taskId: string): Answer => ({ calls: [{ name: "TaskUpdate", input: { taskId, owner: "alice", status: "in_progress" } }] });
  const complete = (taskId: string): Answer => ({ calls: [{ name: "TaskUpdate", input: { taskId, status: "completed" } }] });
  if (calls(steps, "WriteFile").length === 0) return { calls: [{ name: "WriteFile", input: { path: "done.txt", content: "tested\n" } }] };
  const task = String(Math.floor(updates.length / 2) + 1);
  if (Number(task) > CHECKS.length) return { text: "Done." };
  return updates.length % 2 === 0 ? claim(task) : complete(task);
}

test("a task's check is decided as a command of its owner, and runs in the owner's sandbox", { timeout: 90_000 }, async () => {
  await using model = await fakeModel((conversation) =>
    conversation.role.type === "worker" ? alice(conversation) : conversation.role.type === "lead" ? lead(conversation) : { text: "No." },
  );
  await using home = await testHome();
  await home.roocode(["team", "Checks", "-p", "--name", "checks", "--backend", "process", "--no-merge"], {
    env: model.env("anthropic"),
    timeoutMs: 80_000,
  });
  const updates = calls(model.requests.findLast(({ role }) => role.type === "worker")?.steps ?? [], "TaskUpdate");
  const results = updates.filter(({ input }) => input.status === "completed").map(({ result }) => result);
  expect(results[0]).toMatch(/its check "rm -rf \/" may not run/);
  // Without a sandbox nobody is there to allow it.
  expect(results[1]).toMatch(/its check "touch .*escaped\\?"" (failed|may not run)/);
  expect(existsSync(join(home.home, "escaped"))).toBe(false);
  expect(results[2]).toContain('"status":"completed"');
});
