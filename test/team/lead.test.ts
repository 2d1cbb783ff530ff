import { expect, test } from "vitest";
import { selfIdentity } from "../../src/platform/process.ts";
import type { Agent } from "../../src/protocol/agent.ts";
import { messageText, userText } from "../../src/protocol/message.ts";
import { NO_USAGE } from "../../src/protocol/model.ts";
import type { MemberStatus } from "../../src/protocol/team.ts";
import { createMemoryTeam } from "../../src/team/bus/memory.ts";
import { DeathWatch } from "../../src/team/death-watch.ts";
import { Notices, runLead } from "../../src/team/lead.ts";
import { MailReader } from "../../src/team/mail-reader.ts";

test("a member that takes its mail while the lead looks counts as at work", async () => {
  const team = createMemoryTeam({
    name: "t",
    goal: "g",
    leadAgentId: "lead@t",
    repoRoot: "/",
    baseBranch: "main",
    baseCommit: "0",
    members: [],
  });
  const bus = team.open({ name: "lead", epoch: 1 }, selfIdentity());
  const alice = team.open({ name: "alice", epoch: 1 }, selfIdentity());
  const beat = (status: MemberStatus) => alice.presence.beat({ name: "alice", status, at: new Date().toISOString() });
  await beat("idle");
  const ending = new AbortController();
  const heard: string[] = [];
  const agent: Agent = {
    async *run({ message }) {
      heard.push(messageText(message));
      yield { type: "loop_complete", reason: "end_turn", text: "", turns: 1, usage: NO_USAGE };
    },
  };
  let looks = 0;
  const end = await runLead(
    { message: userText("go") },
    {
      bus,
      agent,
      mail: new MailReader({
        mailbox: bus.mailbox,
        self: "lead",
        seen: new Set(),
        onProtocol: async () => undefined,
        onSetAside: () => undefined,
      }),
      notices: new Notices(),
      deaths: new DeathWatch(
        bus,
        async () => undefined,
        () => undefined,
      ),
      merge: true,
      // Just now she said that she is busy and took the message out of her box.
      unreadOf: async () => {
        looks += 1;
        await beat("busy");
        if (looks > 1) ending.abort();
        return 0;
      },
      converge: async () => {
        throw new Error("She is at work.");
      },
      report: () => undefined,
      onEvent: () => undefined,
      onStatus: () => undefined,
      monitorMs: 20,
    },
    ending.signal,
  );
  expect(end).toEqual({ type: "interrupted" });
  expect(heard).toEqual(["go"]);
});
