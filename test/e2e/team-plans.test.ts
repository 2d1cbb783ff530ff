import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Answer, type Conversation, calls } from "../../src/interaction/demo/conversation.ts";
import type { TeamConfig } from "../../src/protocol/team.ts";
import { eventually } from "../support/eventually.ts";
import { fakeModel } from "../support/fake-model.ts";
import { type TestHome, testHome } from "../support/home.ts";
import { tmuxTest } from "../support/in-tmux.ts";
import { startTeam } from "../support/running-team.ts";
import { teamInPanes } from "../support/team-in-panes.ts";

const LONG = 90_000;
const PLAN = "1. Write a.txt.";
const write = { name: "WriteFile", input: { path: "a.txt", content: "from alice\n" } };
const plan = { name: "ExitPlanMode", input: { plan: PLAN } };

/** Alice tries to write before her plan is approved, between two versions of it, by a command too, and after. */
function alice({ steps }: Conversation): Answer {
  const plans = calls(steps, "ExitPlanMode");
  const writes = calls(steps, "WriteFile");
  const isApproved = plans.some(({ result }) => result.includes("approved the plan"));
  if (isApproved) return writes.length < 3 ? { calls: [write] } : { text: "Done." };
  if (writes.length === 0) return { calls: [write] };
  if (plans.length === 0) return { calls: [plan] };
  if (writes.length === 1)
    return { calls: [write, { name: "Bash", input: { command: "touch by-command.txt", description: "Make a file" } }] };
  return plans.length === 1 ? { calls: [plan] } : { text: "I wait." };
}

/** Starts alice, refuses her first plan and approves the second. */
function lead({ steps }: Conversation): Answer {
  if (calls(steps, "Agent").length === 0)
    return {
      calls: [{ name: "Agent", input: { prompt: "Write a.txt.", description: "Write a file", name: "alice", permission_mode: "plan" } }],
    };
  const words = heard(steps);
  const requests = [...words.matchAll(/type="plan_approval_request" requestId="([^"]+)"/g)].map(([, id]) => id);
  const sent = calls(steps, "SendMessage");
  const requestId = requests[sent.length];
  if (requestId === undefined) return { text: "I wait for alice." };
  const answer = sent.length === 0 ? { approve: false, feedback: "Say which file." } : { approve: true };
  return {
    calls: [{ name: "SendMessage", input: { to: "alice", message: { type: "plan_approval_response", requestId, ...answer } } }],
  };
}

/** Mail comes with a message of its own, or with the result of a call. */
function heard(steps: Conversation["steps"]): string {
  return steps.map((step) => (step.type === "call" ? step.result : step.text)).join("\n");
}

const answers = (conversation: Conversation): Answer => (conversation.role.type === "worker" ? alice(conversation) : lead(conversation));

async function memberOf(home: TestHome): Promise<TeamConfig["members"][number] | undefined> {
  const team: TeamConfig = JSON.parse(await readFile(join(home.data, "teams", "plans", "team.json"), "utf8"));
  return team.members[0];
}

for (const backend of ["process", "in-process"])
  test(
    `P05: on backend ${backend} a member that must plan changes nothing before its plan is approved, and works after it`,
    async () => {
      await using home = await testHome({ "f.txt": "one\n" });
      await using model = await fakeModel(answers);
      const flags = ["-p", "--no-merge", "--name", "plans", "--backend", backend, "--permission-mode", "bypassPermissions"];
      await using run = startTeam(home, ["go", ...flags], model.env("anthropic"));
      const { code, stderr } = await run.ended;
      expect(code, stderr).toBe(0);
      const member = await memberOf(home);
      const worktree = member?.worktreePath ?? "";
      expect(member).toMatchObject({ planModeRequired: true, planApproved: true, permissionMode: "bypassPermissions" });
      expect(await readFile(join(worktree, "a.txt"), "utf8")).toBe("from alice\n");
      expect(existsSync(join(worktree, "by-command.txt"))).toBe(false);
      const last = model.requests.findLast(({ role }) => role.type === "worker");
      const [first, second, third] = calls(last?.steps ?? [], "WriteFile").map(({ result }) => result);
      expect(first).toContain("your plan is not approved yet");
      expect(second).toContain("your plan is not approved yet");
      expect(third).not.toContain("not approved");
      expect(calls(last?.steps ?? [], "Bash")[0]?.result).toContain("your plan is not approved yet");
      expect(calls(last?.steps ?? [], "ExitPlanMode")[0]?.result).toContain("Say which file.");
      model.proxy.assertLegal();
    },
    LONG,
  );

test(
  "a lead that ends its turn without an answer to a plan is told once that it is waited for",
  async () => {
    await using home = await testHome({ "f.txt": "one\n" });
    await using model = await fakeModel((conversation) => {
      const { role, steps } = conversation;
      if (role.type === "worker") {
        if (calls(steps, "ExitPlanMode").length === 0) return { calls: [plan] };
        return calls(steps, "WriteFile").length === 0 ? { calls: [write] } : { text: "Done." };
      }
      if (calls(steps, "Agent").length === 0 || calls(steps, "SendMessage").length > 0) return lead(conversation);
      return heard(steps).includes("waits for your answer to its plan") ? lead(conversation) : { text: "Later." };
    });
    const flags = ["-p", "--no-merge", "--name", "plans", "--backend", "in-process", "--permission-mode", "bypassPermissions"];
    await using run = startTeam(home, ["go", ...flags], model.env("anthropic"));
    expect((await run.ended).code, run.output()).toBe(0);
    const last = model.requests.findLast(({ role }) => role.type === "lead");
    expect(heard(last?.steps ?? []).match(/waits for your answer to its plan/g)).toHaveLength(1);
    const member = model.requests.findLast(({ role }) => role.type === "worker");
    expect(calls(member?.steps ?? [], "ExitPlanMode")[0]?.result).toContain("Say which file.");
  },
  LONG,
);

tmuxTest(
  "with --plan=me the plans of all are put to the person in the lead's terminal, who says what to change or approves",
  async () => {
    const starting = ({ role, steps }: Conversation): Answer => {
      if (role.type === "worker") return alice({ role, steps, rounds: 0 });
      if (calls(steps, "Agent").length > 0) return { text: "I wait for alice." };
      return { calls: [{ name: "Agent", input: { prompt: "Write a.txt.", description: "Write a file", name: "alice" } }] };
    };
    await using team = await teamInPanes(starting, ["--plan=me", "--no-merge", "--name", "plans", "--backend", "tmux", "go"]);
    await team.sees(team.lead, "alice changes nothing before. Approve?");
    expect(await team.screen(team.lead)).toContain(PLAN);
    await team.type(team.lead, "name the file first");
    const requests = () => team.model.requests.filter(({ role }) => role.type === "worker");
    await eventually(async () => calls(requests().at(-1)?.steps ?? [], "WriteFile").length === 2, 60_000);
    await eventually(async () => ((await team.screen(team.lead)).match(/Approve\?/g) ?? []).length === 2, 60_000);
    await team.type(team.lead, "y");
    await team.untilOver();
    const steps = requests().at(-1)?.steps ?? [];
    expect(calls(steps, "ExitPlanMode")[0]?.result).toContain("name the file first");
    // No mode was stored for her: the lead's, which is a team's default.
    expect(await memberOf(team.home)).toMatchObject({ planApproved: true, permissionMode: "acceptEdits" });
    expect(calls(steps, "WriteFile").map(({ result }) => result.includes("not approved yet"))).toEqual([true, true, false]);
  },
  LONG,
);

test("--plan=me without a terminal is refused before anything is made, and so is an unknown approver", async () => {
  await using home = await testHome({ "f.txt": "one\n" });
  const refused = await home.roocode(["team", "-p", "--plan=me", "go"]);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("--plan=me needs a terminal");
  expect(existsSync(join(home.data, "teams"))).toBe(false);
  const unknown = await home.roocode(["team", "-p", "--plan=you", "go"]);
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).toContain("plan");
});
