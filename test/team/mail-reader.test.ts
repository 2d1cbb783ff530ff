import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { selfIdentity } from "../../src/platform/process.ts";
import type { TeamMessage, TeammateInfo } from "../../src/protocol/team.ts";
import { createMemoryTeam } from "../../src/team/bus/memory.ts";
import type { ProtocolEnvelope } from "../../src/team/inbox.ts";
import { MailReader } from "../../src/team/mail-reader.ts";

function member(name: string): TeammateInfo {
  return {
    name,
    agentId: `${name}@t`,
    agentType: "worker",
    worktreePath: "/",
    branch: name,
    baseCommit: "0",
    backendType: "process",
    epoch: 1,
    planModeRequired: false,
    permissionMode: "default",
  };
}

function team(seen: string[] = [], onInterrupt: () => void = () => undefined) {
  const memory = createMemoryTeam({
    name: "t",
    goal: "g",
    leadAgentId: "lead@t",
    repoRoot: "/",
    baseBranch: "main",
    baseCommit: "0",
    members: [member("alice"), member("bob")],
  });
  const lead = memory.open({ name: "lead", epoch: 1 }, selfIdentity());
  const alice = memory.open({ name: "alice", epoch: 1 }, selfIdentity());
  const acted: ProtocolEnvelope[] = [];
  const reader = new MailReader({
    mailbox: alice.mailbox,
    self: "alice",
    seen: new Set(seen),
    onProtocol: async (envelope) => {
      acted.push(envelope);
    },
    onSetAside: () => undefined,
    onInterrupt,
  });
  const say = (text: string) => lead.mailbox.send("alice", { type: "message", summary: "s", text });
  return { lead, alice, reader, acted, say, memory };
}

describe("a member's mail", () => {
  test("is handed out once, and comes again only if the transcript never got it", async () => {
    const { reader, say, alice } = team();
    const id = await say("one");
    expect((await reader.take())?.mail).toEqual([id]);
    expect(await reader.take()).toBeUndefined();
    expect((await alice.mailbox.unread()).map((envelope) => envelope.id)).toEqual([id]);
    await reader.acknowledge([id]);
    expect(await alice.mailbox.unread()).toEqual([]);
  });

  test("that the transcript holds already is acknowledged and not handed out", async () => {
    const { reader, say, alice } = team(["lead.1.1"]);
    expect(await say("one")).toBe("lead.1.1");
    expect(await reader.take()).toBeUndefined();
    expect(await alice.mailbox.unread()).toEqual([]);
  });

  test("of the protocol is acted on as it comes, beside a run", async () => {
    const { reader, lead, acted, alice } = team();
    const stop = new AbortController();
    const pump = reader.pump(stop.signal);
    await lead.mailbox.send("alice", { type: "shutdown_request", text: "enough" });
    while (acted.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(acted[0]?.body).toMatchObject({ type: "shutdown_request", text: "enough" });
    expect(await alice.mailbox.unread()).toEqual([]);
    stop.abort();
    await pump;
  });

  test("of information wakes nobody, a message does", async () => {
    const { reader, lead, say } = team();
    const stop = new AbortController();
    const pump = reader.pump(stop.signal);
    await lead.mailbox.send("alice", { type: "status_update", summary: "s", text: "alice finished module 1" });
    await reader.look();
    expect(reader.hasWork).toBe(false);
    const woken = reader.untilWork(stop.signal);
    await say("work");
    await woken;
    expect((await reader.take())?.mail).toHaveLength(2);
    stop.abort();
    await pump;
  });

  test("that interrupts says so when it comes beside a run, not when it goes with the next call anyway, and not from its copy", async () => {
    let interrupts = 0;
    const { reader, lead, alice, say } = team([], () => {
      interrupts += 1;
    });
    const stop: TeamMessage = { type: "message", summary: "stop", text: "Not that file", interrupt: true };
    await lead.mailbox.send("alice", stop);
    expect((await reader.take())?.reminder).toContain("Not that file");
    expect([interrupts, reader.hasInterrupt]).toEqual([0, false]);
    await say("something else");
    await lead.mailbox.send("alice", stop);
    await reader.look();
    expect([interrupts, reader.hasInterrupt]).toEqual([1, true]);
    const taken = await reader.take();
    expect(taken?.mail).toEqual(["lead.1.3", "lead.1.2"]);
    await reader.acknowledge(taken?.mail ?? []);
    await reader.look();
    expect([interrupts, reader.hasInterrupt, (await alice.mailbox.unread()).length]).toEqual([1, false, 1]);
  });

  test("a wait for it ends when its time is over, whatever the garbage collector takes meanwhile", async () => {
    setFlagsFromString("--expose-gc");
    const collect = setInterval(runInNewContext("gc"), 5);
    const { reader } = team();
    await reader.untilWork(new AbortController().signal, 100);
    clearInterval(collect);
    expect(reader.hasWork).toBe(false);
  });
});
