import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Answer, type Conversation, calls } from "../../src/interaction/demo/conversation.ts";
import { fakeModel } from "../support/fake-model.ts";
import { testHome } from "../support/home.ts";

const LONG = 90_000;

function said({ steps }: Conversation): string {
  return steps.flatMap((step) => (step.type === "words" && step.from === "user" ? [step.text] : [])).join("\n");
}

const call = (name: string, input: Record<string, unknown>): Answer => ({ calls: [{ name, input }] });

test.each(["in-process", "process"])(
  "the lead and a teammate (%s) have sub-agents of their own; a teammate adds nobody to the team, and is done when they are",
  { timeout: LONG },
  async (backend) => {
    const results: Record<string, string[]> = {};
    await using model = await fakeModel((conversation) => {
      const { steps, role } = conversation;
      const agents = calls(steps, "Agent");
      results[role.type] = agents.map(({ result }) => result);
      if (/TASK/.test(said(conversation)) && role.type === "main")
        return calls(steps, "Bash").length === 0 ? call("Bash", { command: "sleep 0.3" }) : { text: "The helper has looked." };
      if (role.type === "lead") {
        if (agents.length === 0)
          return call("Agent", {
            description: "looks",
            prompt: "TASK for the lead",
            subagent_type: "general-purpose",
            run_in_background: true,
          });
        if (agents.length === 1) return call("Agent", { description: "works", prompt: "Work.", name: "alice" });
        return { text: "The team is done." };
      }
      const wanted = { description: "looks", prompt: "TASK for alice", name: "helper" };
      if (agents.length === 0) return call("Agent", { ...wanted, subagent_type: "general-purpose", permission_mode: "plan" });
      if (agents.length === 1) return call("Agent", { ...wanted, subagent_type: "general-purpose", run_in_background: true });
      if (agents.length === 2) return call("Agent", { description: "forks", prompt: "TASK for the fork" });
      if (calls(steps, "SendMessage").length === 0)
        return call("SendMessage", { to: "helper", summary: "one more question for you", message: "TASK: more" });
      return { text: `alice is done: ${/The helper has looked/.test(JSON.stringify(steps))}` };
    });
    await using home = await testHome();
    const run = await home.roocode(
      ["team", "go", "--name", "t", "-p", "--backend", backend, "--no-merge", "--permission-mode", "bypassPermissions"],
      {
        env: model.env("anthropic"),
        timeoutMs: LONG,
      },
    );
    expect(run.stderr).not.toContain("failed");
    expect(results.lead?.[0]).toContain("async_launched");
    const alice = model.requests.filter(({ role }) => role.type === "worker").at(-1);
    const [refused, named, fork] = calls(alice?.steps ?? [], "Agent").map(({ result }) => result);
    expect(refused).toContain("permission_mode and plan_mode_required are for teammates");
    if (backend === "in-process") {
      expect(named).toContain("The helper has looked.");
      expect(fork).toContain("Give a subagent_type");
      expect(calls(alice?.steps ?? [], "SendMessage")[0]?.result).toContain("The helper has looked.");
    } else {
      expect(named).toContain("async_launched");
      expect(fork).toContain("async_launched");
      expect(said(alice ?? { role: { type: "main" }, steps: [], rounds: 0 })).toContain("<task-notification");
    }
    const lead = model.requests.filter(({ role }) => role.type === "lead").at(-1);
    expect(said(lead ?? { role: { type: "main" }, steps: [], rounds: 0 }) + JSON.stringify(lead?.steps)).toContain(
      '<task-notification task=\\"agent-',
    );
    expect(JSON.stringify(lead?.steps)).toContain("alice is done: true");
    expect(existsSync(join(home.data, "teams", "t", "sessions", "lead.agents"))).toBe(true);
  },
);
