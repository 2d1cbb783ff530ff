import { expect, test } from "vitest";
import { selfIdentity } from "../../src/platform/process.ts";
import type { Agent, AgentInput, LoopComplete, LoopEndReason } from "../../src/protocol/agent.ts";
import { messageText } from "../../src/protocol/message.ts";
import { NO_USAGE } from "../../src/protocol/model.ts";
import { LEAD } from "../../src/protocol/team.ts";
import { createMemoryTeam } from "../../src/team/bus/memory.ts";
import { MailReader } from "../../src/team/mail-reader.ts";
import { claimPatch } from "../../src/team/task-rules.ts";
import { runWorker, WorkerControl } from "../../src/team/worker.ts";
import { sampleTeam } from "./bus/sample-team.ts";

/** Alice's life from one task to the first time that she is idle; what her model was given, and what the lead reads. */
async function untilIdle(
  beforeIdle: (text: string, isAgain: boolean) => Promise<string | undefined>,
  reason: LoopEndReason = "end_turn",
  memory = createMemoryTeam(sampleTeam("alice")),
  error?: LoopComplete["error"],
) {
  const lead = memory.open({ name: LEAD, epoch: 1 }, selfIdentity());
  const bus = memory.open({ name: "alice", epoch: 1 }, selfIdentity());
  const given: string[] = [];
  const agent: Agent = {
    async *run({ message }: AgentInput) {
      given.push(message ? messageText(message) : "");
      yield { type: "loop_complete", reason, text: "Done.", turns: 1, usage: NO_USAGE, ...(error ? { error } : {}) };
    },
  };
  const mail = new MailReader({
    mailbox: bus.mailbox,
    self: "alice",
    seen: new Set(),
    onProtocol: async () => undefined,
    onSetAside: () => undefined,
  });
  const control = new WorkerControl();
  const stop = new AbortController();
  await runWorker(
    { message: { role: "user", content: [{ type: "text", text: "Look through." }] } },
    {
      self: "alice",
      bus,
      agent,
      mail,
      control,
      save: async () => undefined,
      newCommits: async () => [],
      isLeadAlive: async () => true,
      onEvent: () => undefined,
      onStatus: (status) => {
        if (status === "idle" || status === "failed") stop.abort();
      },
      beforeIdle,
      leadCheckMs: 10_000,
      orphanTimeoutMs: 0,
    },
    stop.signal,
  );
  return { given, notices: (await lead.mailbox.unread()).map(({ body }) => body) };
}

test("H01: the hook teammate_idle keeps a member at work, at most eight times in a row; then the lead is told", async () => {
  const asked: boolean[] = [];
  const { given, notices } = await untilIdle(async (_, isAgain) => {
    asked.push(isAgain);
    return "tests are red";
  });
  expect(given).toEqual(["Look through.", ...Array.from({ length: 8 }, () => "tests are red")]);
  expect(asked).toEqual([false, ...Array.from({ length: 8 }, () => true)]);
  expect(notices).toEqual([
    { type: "idle_notification", reason: "done", lastText: expect.stringMatching(/^Done\.\n.*wanted it to go on 8 times/), commits: [] },
  ]);
});

test("L07: a member whose model stays out of reach is failed with the error's words, and the task that it held is back on the list", async () => {
  const memory = createMemoryTeam(sampleTeam("alice"));
  const lead = memory.open({ name: LEAD, epoch: 1 }, selfIdentity());
  const task = await lead.tasks.create({ subject: "Write a", description: "", blockedBy: [] });
  await lead.tasks.update(task.id, 1, claimPatch(task, "alice", selfIdentity()));
  const { notices } = await untilIdle(async () => undefined, "error", memory, { kind: "overloaded", message: "Overloaded (given up)" });
  expect(notices).toEqual([
    { type: "idle_notification", reason: "failed", lastText: "Overloaded (given up) Back on the list: 1 (Write a).", commits: [] },
  ]);
  expect(await lead.tasks.get(task.id)).toMatchObject({ status: "pending", attempts: 2, note: expect.stringContaining("Overloaded") });
  expect((await lead.tasks.get(task.id))?.owner).toBeUndefined();
});

test("teammate_idle: a member that may be idle is, and one whose run did not end by itself is not asked", async () => {
  const once = ["one more look", undefined];
  const { given, notices } = await untilIdle(async () => once.shift());
  expect(given).toEqual(["Look through.", "one more look"]);
  expect(notices).toEqual([{ type: "idle_notification", reason: "done", lastText: "Done.", commits: [] }]);
  const halted = await untilIdle(async () => "go on", "hook");
  expect(halted.given).toEqual(["Look through."]);
  expect(halted.notices).toMatchObject([{ reason: "blocked" }]);
});

test("M07: thanks that are answered by the same words make no second idle notice, and other words or a commit make one", async () => {
  const memory = createMemoryTeam(sampleTeam("alice"));
  const lead = memory.open({ name: LEAD, epoch: 1 }, selfIdentity());
  const bus = memory.open({ name: "alice", epoch: 1 }, selfIdentity());
  const mail = new MailReader({
    mailbox: bus.mailbox,
    self: "alice",
    seen: new Set(),
    onProtocol: async () => undefined,
    onSetAside: () => undefined,
  });
  const stop = new AbortController();
  const pump = mail.pump(stop.signal);
  const answers = ["All done.", "All done.", "All done.", "Yes, 3 files.", "Yes, 3 files."];
  const commits = [["a1 Work"], [], [], [], ["b2 More"]];
  let runs = 0;
  await runWorker(
    { message: { role: "user", content: [{ type: "text", text: "Work." }] } },
    {
      self: "alice",
      bus,
      agent: {
        async *run({ mail: ids }: AgentInput) {
          await mail.acknowledge(ids ?? []);
          yield { type: "loop_complete", reason: "end_turn", text: answers[runs++] ?? "", turns: 1, usage: NO_USAGE };
        },
      },
      mail,
      control: new WorkerControl(),
      save: async () => undefined,
      newCommits: async () => commits[runs - 1] ?? [],
      isLeadAlive: async () => true,
      onEvent: () => undefined,
      onStatus: (status) => {
        if (status !== "idle") return;
        if (runs === answers.length) stop.abort();
        else void lead.mailbox.send("alice", { type: "message", summary: "thanks", text: "thanks" });
      },
      leadCheckMs: 10_000,
      orphanTimeoutMs: 0,
    },
    stop.signal,
  );
  await pump;
  expect(runs).toBe(5);
  expect((await lead.mailbox.unread()).map(({ body }) => body)).toMatchObject([
    { lastText: "All done.", commits: ["a1 Work"] },
    { lastText: "Yes, 3 files.", commits: [] },
    { lastText: "Yes, 3 files.", commits: ["b2 More"] },
  ]);
});

test("a lead's interrupt ends the turn under way: what runs is stopped, the reason is what is read next, and no idle notice goes out for it", async () => {
  const memory = createMemoryTeam(sampleTeam("alice"));
  const lead = memory.open({ name: LEAD, epoch: 1 }, selfIdentity());
  const bus = memory.open({ name: "alice", epoch: 1 }, selfIdentity());
  const control = new WorkerControl();
  const mail = new MailReader({
    mailbox: bus.mailbox,
    self: "alice",
    seen: new Set(),
    onProtocol: async () => undefined,
    onSetAside: () => undefined,
    onInterrupt: () => control.interrupt("the lead"),
  });
  const stop = new AbortController();
  const pump = mail.pump(stop.signal);
  const given: string[] = [];
  const agent: Agent = {
    async *run({ message, mail: ids }: AgentInput, signal: AbortSignal) {
      given.push(messageText(message));
      await mail.acknowledge(ids ?? []);
      if (given.length === 1) {
        await lead.mailbox.send("alice", { type: "message", summary: "by the way", text: "Read this at some time." });
        await lead.mailbox.send("alice", { type: "message", summary: "wrong file", text: "Not f.txt: g.txt", interrupt: true });
        // A tool that ends with its signal alone.
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      }
      yield { type: "loop_complete", reason: signal.aborted ? "aborted" : "end_turn", text: "Done.", turns: 1, usage: NO_USAGE };
    },
  };
  const statuses: string[] = [];
  await runWorker(
    { message: { role: "user", content: [{ type: "text", text: "Work." }] } },
    {
      self: "alice",
      bus,
      agent,
      mail,
      control,
      save: async () => undefined,
      newCommits: async () => [],
      isLeadAlive: async () => true,
      onEvent: () => undefined,
      onStatus: (status) => {
        statuses.push(status);
        if (status === "idle") stop.abort();
      },
      leadCheckMs: 10_000,
      orphanTimeoutMs: 0,
    },
    stop.signal,
  );
  await pump;
  expect(given).toEqual([
    "Work.",
    expect.stringMatching(/^<teammate-message from="lead"[^>]*interrupt="yes">[\s\S]*g\.txt[\s\S]*Read this at some time/),
  ]);
  expect(statuses).toEqual(["busy", "busy", "idle", "stopped"]);
  expect((await lead.mailbox.unread()).map(({ body }) => body.type)).toEqual(["idle_notification"]);
});
