import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Answer, type Conversation, calls } from "../../src/interaction/demo/conversation.ts";
import { SUMMARY } from "../support/compacting.ts";
import { eventually } from "../support/eventually.ts";
import { fakeModel } from "../support/fake-model.ts";
import { testHome } from "../support/home.ts";

const LONG = 90_000;
const ASKS_SUMMARY = "The conversation becomes too long and will be replaced by your summary.";
/** Two such descriptions fill the window. */
const WORDS = "One sheep after another. ".repeat(1_500);
const WINDOW = 28_000;
const call = (name: string, input: Record<string, unknown>): Answer => ({ calls: [{ name, input }] });

test("L03: a lead whose history is summed up while tasks run keeps roster, tasks and role, and gets what was sent meanwhile", {
  timeout: LONG,
}, async () => {
  let isAsked = false;
  let isSummedUp = false;
  const told = new Set<string>();
  const leadTurn = async ({ steps }: Conversation): Promise<Answer> => {
    const last = steps.at(-1);
    if (last?.type === "words" && last.text.includes(ASKS_SUMMARY)) {
      isAsked = true;
      await eventually(() => told.size === 2, 30_000);
      isSummedUp = true;
      return { text: SUMMARY };
    }
    if (isSummedUp) return { text: "I wait for them." };
    if (calls(steps, "Agent").length === 0)
      return { calls: ["alice", "bob"].map((name) => ({ name: "Agent", input: { name, description: "x", prompt: `You are ${name}.` } })) };
    return { calls: ["Count the sheep", "Feed it"].map((subject) => ({ name: "TaskCreate", input: { subject, description: WORDS } })) };
  };
  const workerTurn = async (name: string, { steps }: Conversation): Promise<Answer> => {
    const taskId = name === "alice" ? "1" : "2";
    await eventually(() => isAsked, 60_000);
    if (calls(steps, "TaskUpdate").length === 0) return call("TaskUpdate", { taskId, owner: name, status: "in_progress" });
    if (calls(steps, "SendMessage").length === 0)
      return call("SendMessage", { to: "lead", summary: "what is new", message: `NEWS-OF-${name}` });
    told.add(name);
    await eventually(() => isSummedUp, 60_000);
    if (calls(steps, "TaskUpdate").length < 2)
      return call("TaskUpdate", { taskId, status: "completed", noChange: true, note: "All well." });
    return { text: "Done." };
  };
  await using model = await fakeModel((conversation) => {
    const { role } = conversation;
    return role.type === "worker" ? workerTurn(role.name, conversation) : leadTurn(conversation);
  });
  await using home = await testHome();
  await mkdir(home.data, { recursive: true });
  const provider = { name: "small", protocol: "anthropic", baseUrl: model.proxy.anthropicUrl, model: "tiny", contextWindow: WINDOW };
  await writeFile(join(home.data, "config.yaml"), `model: small/tiny\nproviders: [${JSON.stringify(provider)}]\n`);
  const run = await home.roocode(["team", "Mind the sheep", "-p", "--name", "sheep", "--backend", "process"], {
    env: model.env("anthropic"),
    timeoutMs: 60_000,
  });
  expect(run.code, run.stderr).toBe(0);
  const bodies = model.proxy.captures.map(({ body }) => body);
  const asked = bodies.findIndex((body) => body.includes(ASKS_SUMMARY));
  const next = bodies.slice(asked + 1).find((body) => body.includes("You are the lead of a team of coding agents"));
  expect(next).toContain("Make the build green.");
  expect(next).not.toContain(WORDS);
  expect(next).toContain('You are the lead of the team \\"sheep\\".');
  expect(next).toContain("The goal: Mind the sheep");
  // As things stood when the summary was asked for; what came since is in the mail, at the latest with the request after this one.
  for (const name of ["alice", "bob"]) expect(next).toMatch(new RegExp(`- ${name}: \\w+, branch worktree-team-sheep\\+${name}`));
  expect(next).toContain("- 1 pending: Count the sheep\\n- 2 pending: Feed it");
  const later = bodies.slice(asked + 1).filter((body) => body.includes("You are the lead of a team of coding agents"));
  for (const name of ["alice", "bob"]) expect(later.at(-1)).toContain(`NEWS-OF-${name}`);
  model.proxy.assertLegal();
});
