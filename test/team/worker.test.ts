import { expect, test } from "vitest";
import { selfIdentity } from "../../src/platform/process.ts";
import type { Agent, AgentInput, LoopEndReason } from "../../src/protocol/agent.ts";
import { messageText } from "../../src/protocol/message.ts";
import { NO_USAGE } from "../../src/protocol/model.ts";
import { LEAD } from "../../src/protocol/team.ts";
import { createMemoryTeam } from "../../src/team/bus/memory.ts";
import { MailReader } from "../../src/team/mail-reader.ts";
import { runWorker, WorkerControl } from "../../src/team/worker.ts";
import { sampleTeam } from "./bus/sample-team.ts";

/** Alice's life from one task to the first time that she is idle; what her model was given, and what the lead reads. */
async function untilIdle(beforeIdle: (text: string, isAgain: boolean) => Promise<string | undefined>, reason: LoopEndReason = "end_turn") {
  const memory = createMemoryTeam(sampleTeam("alice"));
  const lead = memory.open({ name: LEAD, epoch: 1 }, selfIdentity());
  const bus = memory.open({ name: "alice", epoch: 1 }, selfIdentity());
  const given: string[] = [];
  const agent: Agent = {
    async *run({ message }: AgentInput) {
      given.push(message ? messageText(message) : "");
      yield { type: "loop_complete", reason, text: "Done.", turns: 1, usage: NO_USAGE };
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

test("teammate_idle: words keep a member at work, at most eight times in a row; then the lead is told", async () => {
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

test("teammate_idle: a member that may be idle is, and one whose run did not end by itself is not asked", async () => {
  const once = ["one more look", undefined];
  const { given, notices } = await untilIdle(async () => once.shift());
  expect(given).toEqual(["Look through.", "one more look"]);
  expect(notices).toEqual([{ type: "idle_notification", reason: "done", lastText: "Done.", commits: [] }]);
  const halted = await untilIdle(async () => "go on", "hook");
  expect(halted.given).toEqual(["Look through."]);
  expect(halted.notices).toMatchObject([{ reason: "blocked" }]);
});
