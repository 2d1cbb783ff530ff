import { describe, expect, test } from "vitest";
import { selfIdentity } from "../../src/platform/process.ts";
import type { Agent } from "../../src/protocol/agent.ts";
import { messageText, userText } from "../../src/protocol/message.ts";
import { NO_USAGE } from "../../src/protocol/model.ts";
import type { MemberStatus, TeamBus, TeamMessage, TeammateInfo } from "../../src/protocol/team.ts";
import { createMemoryTeam } from "../../src/team/bus/memory.ts";
import type { ConvergeReport } from "../../src/team/converge/report.ts";
import { DeathWatch } from "../../src/team/death-watch.ts";
import { runLead } from "../../src/team/lead.ts";
import { MailReader } from "../../src/team/mail-reader.ts";
import { sampleTeam } from "./bus/sample-team.ts";

const ALICE: TeammateInfo = {
  name: "alice",
  agentId: "alice@t",
  agentType: "worker",
  worktreePath: "/",
  branch: "alice",
  baseCommit: "0",
  backendType: "process",
  epoch: 1,
  planModeRequired: false,
  permissionMode: "default",
};

test("what is left of a member that never started does not keep the lead waiting", async () => {
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
  await bus.presence.beat({ name: "bob", status: "starting", at: new Date().toISOString() });
  let turns = 0;
  const end = await runLead(
    { message: userText("go") },
    {
      bus,
      agent: {
        async *run() {
          turns += 1;
          yield { type: "loop_complete", reason: "end_turn", text: "", turns: 1, usage: NO_USAGE };
        },
      },
      mail: new MailReader({
        mailbox: bus.mailbox,
        self: "lead",
        seen: new Set(),
        onProtocol: async () => undefined,
        onSetAside: () => undefined,
      }),
      deaths: new DeathWatch(
        bus,
        async () => undefined,
        () => undefined,
      ),
      merge: false,
      unreadOf: async () => 0,
      converge: () => Promise.reject(new Error("not with --no-merge")),
      report: () => undefined,
      onEvent: () => undefined,
      onStatus: () => undefined,
      monitorMs: 10,
    },
    new AbortController().signal,
  );
  // The goal, the one reminder, and the end.
  expect({ turns, end: end.type }).toEqual({ turns: 2, end: "nothing_to_merge" });
});

test("a member that takes its mail while the lead looks counts as at work", async () => {
  const team = createMemoryTeam({
    name: "t",
    goal: "g",
    leadAgentId: "lead@t",
    repoRoot: "/",
    baseBranch: "main",
    baseCommit: "0",
    members: [ALICE],
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

test("a lead whose team has reached its cap is over, unless all was brought home before", async () => {
  const bus = createMemoryTeam(sampleTeam()).open({ name: "lead", epoch: 1 });
  const sentence = "Stopped: the team has cost $5.02; its cap is $5.";
  const endWith = (exitCode?: 0 | 3) => {
    const report: ConvergeReport | undefined =
      exitCode === undefined ? undefined : { merged: [], unmerged: [], integratorText: "", text: "", exitCode };
    return runLead(
      { message: userText("go") },
      {
        bus,
        agent: {
          async *run() {
            yield { type: "loop_complete", reason: "budget", text: sentence, turns: 1, usage: NO_USAGE };
          },
        },
        mail: new MailReader({
          mailbox: bus.mailbox,
          self: "lead",
          seen: new Set(),
          onProtocol: async () => undefined,
          onSetAside: () => undefined,
        }),
        deaths: new DeathWatch(
          bus,
          async () => undefined,
          () => undefined,
        ),
        merge: true,
        unreadOf: async () => 0,
        converge: () => Promise.reject(new Error("nothing more may be spent")),
        report: () => report,
        onEvent: () => undefined,
        onStatus: () => undefined,
        monitorMs: 10,
      },
      new AbortController().signal,
    );
  };
  expect(await endWith()).toEqual({ type: "over_budget", sentence });
  expect(await endWith(3)).toMatchObject({ type: "over_budget", sentence, report: { exitCode: 3 } });
  expect(await endWith(0)).toMatchObject({ type: "converged", text: sentence });
});

test("K09: when everybody waits the lead is told once which chain holds the work up, and again only when that changes", async () => {
  const bus = createMemoryTeam(sampleTeam("alice", "bob")).open({ name: "lead", epoch: 1 }, selfIdentity());
  for (const name of ["alice", "bob"]) await bus.presence.beat({ name, status: "idle", at: new Date().toISOString() });
  const create = (subject: string, blockedBy: string[]) => bus.tasks.create({ subject, description: "", blockedBy });
  const model = await create("model", []);
  const api = await create("api", [model.id]);
  await create("page", [api.id]);
  await bus.tasks.update(model.id, model.revision, { status: "failed" });
  const heard: string[] = [];
  const end = await runLead(
    { message: userText("go") },
    {
      bus,
      agent: {
        async *run({ message }) {
          heard.push(messageText(message));
          // Told of it, the lead gives the task that holds all up to one who has left.
          if (heard.length === 2) await bus.tasks.update(model.id, model.revision + 1, { status: "pending", owner: "carol" });
          yield { type: "loop_complete", reason: "end_turn", text: "", turns: 1, usage: NO_USAGE };
        },
      },
      mail: new MailReader({
        mailbox: bus.mailbox,
        self: "lead",
        seen: new Set(),
        onProtocol: async () => undefined,
        onSetAside: () => undefined,
      }),
      deaths: new DeathWatch(
        bus,
        async () => undefined,
        () => undefined,
      ),
      merge: false,
      unreadOf: async () => 0,
      converge: () => Promise.reject(new Error("not with --no-merge")),
      report: () => undefined,
      onEvent: () => undefined,
      onStatus: () => undefined,
      monitorMs: 10,
    },
    new AbortController().signal,
  );
  expect(end).toMatchObject({ type: "nothing_to_merge", allCompleted: false });
  expect(heard).toHaveLength(3);
  expect(heard[1]).toContain("2 waits for 1, which failed (set it to pending, or cancel it).");
  expect(heard[1]).toContain("3 waits for 2, which waits for 1, which failed (set it to pending, or cancel it).");
  expect(heard[2]).toContain("1 is pending and belongs to carol, who is not in the team (give it to another).");
  expect(heard[2]).toContain("3 waits for 2, which waits for 1, which is pending and belongs to carol");
});

describe("the word that a member is done", () => {
  const done = (lastText: string): TeamMessage => ({ type: "idle_notification", reason: "done", lastText, commits: [] });

  /** Alice is done at once, while bob works; `then` is what bob does. The texts that the lead's model reads after the goal. */
  async function heardOf(then: { says: TeamMessage; afterMs: number }, prepare?: (bus: TeamBus) => Promise<unknown>): Promise<string[]> {
    const memory = createMemoryTeam(sampleTeam("alice", "bob"));
    const [bus, alice, bob] = ["lead", "alice", "bob"].map((name) => memory.open({ name, epoch: 1 }, selfIdentity())) as [
      TeamBus,
      TeamBus,
      TeamBus,
    ];
    await prepare?.(bus);
    const beat = (by: TeamBus, name: string, status: MemberStatus) => by.presence.beat({ name, status, at: new Date().toISOString() });
    await beat(bob, "bob", "busy");
    await beat(alice, "alice", "busy");
    await alice.mailbox.send("lead", done("alice is done"));
    await beat(alice, "alice", "idle");
    const mail = new MailReader({
      mailbox: bus.mailbox,
      self: "lead",
      seen: new Set(),
      onProtocol: async () => undefined,
      onSetAside: () => undefined,
    });
    const ended = new AbortController();
    const pump = mail.pump(ended.signal);
    setTimeout(async () => {
      await bob.mailbox.send("lead", then.says);
      // Its own notice comes before it stands idle.
      await new Promise((resolve) => setTimeout(resolve, 50));
      await beat(bob, "bob", "idle");
    }, then.afterMs);
    const heard: string[] = [];
    await runLead(
      { message: userText("go") },
      {
        bus,
        agent: {
          async *run({ message, mail: ids }) {
            heard.push(messageText(message));
            yield { type: "message", message, ...(ids ? { mail: ids } : {}) };
            yield { type: "loop_complete", reason: "end_turn", text: "", turns: 1, usage: NO_USAGE };
          },
        },
        mail,
        deaths: new DeathWatch(
          bus,
          async () => undefined,
          () => undefined,
        ),
        merge: false,
        unreadOf: async () => 0,
        converge: () => Promise.reject(new Error("not with --no-merge")),
        report: () => undefined,
        onEvent: () => undefined,
        onStatus: () => undefined,
        monitorMs: 300,
      },
      new AbortController().signal,
    );
    ended.abort();
    await pump.catch(() => undefined);
    return heard.slice(1).filter((text) => !text.includes("No teammate is busy"));
  }

  test("waits while others are at work, and is read with theirs in one turn", async () => {
    const heard = await heardOf({ says: done("bob is done"), afterMs: 200 });
    expect(heard).toHaveLength(1);
    expect(heard[0]).toMatch(/alice is done.*bob is done/s);
  });

  test.each<[string, TeamMessage]>([
    ["a failure", { type: "idle_notification", reason: "failed", lastText: "no model", commits: [] }],
    ["a question", { type: "message", summary: "?", text: "which port?" }],
  ])("is read at once when %s comes", async (_, says) => {
    const heard = await heardOf({ says, afterMs: 100 });
    expect(heard).toHaveLength(1);
    expect(heard[0]).toContain("alice is done");
  });

  test("does not wait when there is a task for whoever is free", async () => {
    const heard = await heardOf({ says: done("bob is done"), afterMs: 500 }, ({ tasks }) =>
      tasks.create({ subject: "free", description: "", blockedBy: [] }),
    );
    expect(heard).toHaveLength(2);
    expect(heard[0]).toContain("alice is done");
    expect(heard[0]).not.toContain("bob is done");
  });
});
