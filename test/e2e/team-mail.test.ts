import { randomInt } from "node:crypto";
import { copyFile, readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Answer, Conversation } from "../../src/interaction/demo/conversation.ts";
import { eventually } from "../support/eventually.ts";
import { type FakeModel, fakeModel, inOrder } from "../support/fake-model.ts";
import { type TestHome, testHome } from "../support/home.ts";
import { processesWith, startTeam, statusOf } from "../support/running-team.ts";

const LONG = 60_000;
const FILES = { "f.txt": "one\n" };
const FLAGS = ["-p", "--name", "case", "--no-merge", "--permission-mode", "bypassPermissions"];
const BACKENDS = [{ backend: "process" }, { backend: "in-process" }] as const;

const start = (...names: readonly string[]): Answer => ({
  calls: names.map((name) => ({ name: "Agent", input: { name, description: "a worker", prompt: "Do it." } })),
});
const send = (input: Record<string, unknown>): Answer => ({ calls: [{ name: "SendMessage", input }] });
const WAIT: Answer = { text: "I wait." };

/** A point that the script waits at until the test says so. */
function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open: () => open(), opened };
}

const isMember = ({ role }: Conversation, name: string) => role.type === "worker" && role.name === name;
const ofMember = ({ requests }: FakeModel, name: string) => requests.filter((one) => isMember(one, name));
const allText = ({ steps }: Conversation) => steps.map((step) => (step.type === "words" ? step.text : step.result)).join("\n");
const ofLead = ({ requests }: FakeModel) => requests.filter(({ role }) => role.type === "lead");
const inbox = (home: TestHome, name: string, part: string) => join(home.data, "teams", "case", "inboxes", name, part);

test.each(BACKENDS)(
  "M09: an interrupt on backend $backend ends the command that runs, and its reason is the next thing that the teammate reads",
  async ({ backend }) => {
    const command = `sleep ${randomInt(100_000, 900_000)}`;
    const alice = inOrder({ calls: [{ name: "Bash", input: { command } }] }, { text: "Done with g.txt." });
    const lead = inOrder(start("alice"), WAIT);
    await using model = await fakeModel((conversation) => (isMember(conversation, "alice") ? alice : lead)(conversation));
    await using home = await testHome(FILES);
    await using run = startTeam(home, ["goal", ...FLAGS, "--backend", backend], model.env("anthropic"));
    await eventually(async () => (await processesWith(command)).length > 0, LONG);
    expect(await home.roocode(["team", "send", "case", "alice", "--interrupt", "Use g.txt, not f.txt"])).toMatchObject({
      code: 0,
      stdout: "Delivered to alice, whose turn is ended: it reads this first.\n",
    });
    expect((await run.ended).code, run.output()).toBe(0);
    expect(await processesWith(command)).toEqual([]);
    const [, call, gap, next, ...more] = ofMember(model, "alice")[1]?.steps ?? [];
    expect(call).toMatchObject({ type: "call", name: "Bash", result: expect.stringContaining("[interrupted by the lead") });
    expect(gap).toMatchObject({ type: "words", from: "assistant" });
    expect(next).toMatchObject({
      text: expect.stringMatching(/^<teammate-message from="lead"[^>]*interrupt="yes">\n.*\nUse g\.txt, not f\.txt/),
    });
    expect(more).toEqual([]);
    const told = ofLead(model).map(allText).at(-1) ?? "";
    expect(told.match(/<task-notification from="alice"/g)).toHaveLength(1);
    expect((await statusOf(home, "case")).mail).toMatchObject([
      { from: "lead", to: "alice", state: "read", summary: "Use g.txt, not f.txt" },
      { from: "alice", to: "lead", state: "read", type: "idle_notification" },
      { from: "lead", to: "alice", state: "read", type: "shutdown_request" },
      { from: "alice", to: "lead", type: "shutdown_response" },
    ]);
    model.proxy.assertLegal();
  },
  LONG,
);

test.each(BACKENDS)(
  "M06: news to an idle teammate on backend $backend wakes it not, holds the team's end not up, and is no task of anyone's",
  async ({ backend }) => {
    const lead = inOrder(
      { calls: [{ name: "TaskCreate", input: { subject: "Write b", description: "b" } }] },
      start("bob"),
      WAIT,
      send({ to: "*", summary: "module 1 is done", message: "alice finished module 1" }),
      WAIT,
    );
    await using model = await fakeModel((conversation) => (isMember(conversation, "bob") ? { text: "Bob is idle." } : lead(conversation)));
    await using home = await testHome(FILES);
    const run = await home.roocode(["team", "goal", ...FLAGS, "--backend", backend], { env: model.env("anthropic"), timeoutMs: LONG });
    // Not 0: nobody took the task.
    expect(run.code, run.stderr).toBe(1);
    expect(ofMember(model, "bob")).toHaveLength(1);
    const status = await statusOf(home, "case");
    expect(status.members).toMatchObject([{ name: "bob", unread: 1, oldestUnreadAt: expect.any(String) }]);
    expect(status.tasks).toMatchObject([{ status: "pending" }]);
    expect(status.tasks[0]?.owner).toBeUndefined();
    expect(status.mail.find(({ type }) => type === "status_update")).toMatchObject({ to: "bob", state: "sent" });
    expect((await home.roocode(["team", "status", "case"])).stdout).toMatch(
      /bob +stopped[^\n]*1 unread \(the oldest for \d+ s\)[\s\S]*✉ lead → bob [\d:]+ sent: module 1 is done/,
    );
  },
  LONG,
);

test.each(BACKENDS)(
  "M07: thanks that a teammate on backend $backend answers with nothing new bring the lead no second idle notice",
  async ({ backend }) => {
    const lead = inOrder(start("alice"), WAIT, send({ to: "alice", summary: "thanks for the work", message: "Thanks." }), WAIT);
    await using model = await fakeModel((conversation) => (isMember(conversation, "alice") ? { text: "All done." } : lead(conversation)));
    await using home = await testHome(FILES);
    const run = await home.roocode(["team", "goal", ...FLAGS, "--backend", backend], { env: model.env("anthropic"), timeoutMs: LONG });
    expect(run.code, run.stderr).toBe(0);
    expect(ofMember(model, "alice")).toHaveLength(2);
    expect(
      ofLead(model)
        .map(allText)
        .at(-1)
        ?.match(/<task-notification from="alice" status="idle"/g),
    ).toHaveLength(1);
    // Goal, wait, thanks, wait, and at most the one reminder that nobody is busy.
    expect(ofLead(model).length).toBeLessThanOrEqual(5);
  },
  LONG,
);

test(
  "K02, L08: of three of one name one is started; mail to a teammate that is then stopped wakes nobody, and a new team of that name has an empty box",
  async () => {
    const [stop, never] = [gate(), gate()];
    const shutdown = send({ to: "writer", message: { type: "shutdown_request", feedback: "enough" } });
    const lead = inOrder(start("writer", "writer", "writer"), shutdown, WAIT);
    let isSecond = false;
    await using model = await fakeModel(async (conversation) => {
      if (isSecond) return isMember(conversation, "writer") ? { text: "Fresh." } : inOrder(start("writer"), WAIT)(conversation);
      if (isMember(conversation, "writer")) await never.opened;
      else if (conversation.rounds === 1) await stop.opened;
      return isMember(conversation, "writer") ? { text: "" } : lead(conversation);
    });
    await using home = await testHome(FILES);
    const flags = [...FLAGS, "--backend", "process"];
    await using run = startTeam(home, ["goal", ...flags], model.env("anthropic"));
    await eventually(() => ofMember(model, "writer").length === 1 && ofLead(model).length === 2, LONG);
    const spawned = ofLead(model)[1]?.steps.flatMap((step) => (step.type === "call" ? [step.result] : [])) ?? [];
    expect(spawned.filter((result) => result.includes("writer is ready"))).toHaveLength(1);
    expect(spawned.filter((result) => result.includes('"writer" is taken by a teammate'))).toHaveLength(2);

    await home.roocode(["team", "send", "case", "writer", "do this later"]);
    stop.open();
    expect((await run.ended).code, run.output()).toBe(0);
    never.open();
    const status = await statusOf(home, "case");
    expect(status.members).toMatchObject([{ name: "writer", state: "stopped", detail: "enough", unread: 1, epoch: 1 }]);
    expect(status.mail.find(({ summary }) => summary === "do this later")).toMatchObject({ state: "sent" });
    expect(ofMember(model, "writer")).toHaveLength(1);

    expect(await home.roocode(["team", "clean", "case"])).toMatchObject({ code: 0 });
    isSecond = true;
    const again = await home.roocode(["team", "goal", ...flags], { env: model.env("anthropic"), timeoutMs: LONG });
    expect(again.code, again.stderr).toBe(0);
    expect(ofMember(model, "writer").slice(1).map(allText).join("\n")).not.toContain("do this later");
    expect((await statusOf(home, "case")).members).toMatchObject([{ name: "writer", unread: 0 }]);
  },
  LONG,
);

test.each(BACKENDS)(
  "L08: a new message resumes a stopped teammate on backend $backend; the shutdown_request that it followed does not stop it again when its file comes back",
  async ({ backend }) => {
    const second = gate();
    const lead = inOrder(
      start("alice"),
      WAIT,
      send({ to: "alice", message: { type: "shutdown_request", feedback: "enough" } }),
      WAIT,
      send({ to: "alice", summary: "one more thing to do", message: "Go on." }),
      WAIT,
    );
    await using model = await fakeModel(async (conversation) => {
      if (!isMember(conversation, "alice")) return lead(conversation);
      if (conversation.rounds === 0) return { text: "Done." };
      await second.opened;
      return { text: "The second life is over." };
    });
    await using home = await testHome(FILES);
    await using run = startTeam(home, ["goal", ...FLAGS, "--backend", backend], model.env("anthropic"));
    await eventually(() => ofMember(model, "alice").length === 2, LONG);
    const read = inbox(home, "alice", "cur");
    const texts = await Promise.all((await readdir(read)).map(async (name) => ({ name, text: await readFile(join(read, name), "utf8") })));
    const [old] = texts.filter(({ text }) => text.includes("shutdown_request"));
    const copy = `${String(Date.now()).padStart(14, "0")}.00000009.again.json`;
    // Whole at once, as mail comes: half a file would be set aside.
    const aside = join(inbox(home, "alice", "tmp"), copy);
    await copyFile(join(read, old?.name ?? ""), aside);
    await rename(aside, join(inbox(home, "alice", "new"), copy));
    await eventually(async () => (await readdir(read)).includes(copy), LONG);
    second.open();
    expect((await run.ended).code, run.output()).toBe(0);
    expect(allText(ofLead(model).at(-1) ?? { role: { type: "lead" }, steps: [], rounds: 0 })).toContain("The second life is over.");
    expect((await statusOf(home, "case")).members).toMatchObject([{ name: "alice", epoch: 2 }]);
  },
  LONG,
);
