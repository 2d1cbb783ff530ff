import { expect, test } from "vitest";
import type { MemberStatus } from "../../../src/protocol/team.ts";
import { createMemoryTeam } from "../../../src/team/bus/memory.ts";
import { sendMessageTool } from "../../../src/team/tools/send-message.ts";
import { sampleTeam } from "../bus/sample-team.ts";
import { run } from "./run-tool.ts";

function team(self: string, reviveMember?: (name: string) => Promise<string>) {
  const members = createMemoryTeam(sampleTeam("alice", "bob", "carol"));
  const bus = members.open({ name: self, epoch: 1 });
  const sent: string[] = [];
  const onSent = ({ to, body }: { to: string; body: { type: string } }) => void sent.push(`${body.type} to ${to}`);
  return {
    sent,
    tool: sendMessageTool({ ...bus, self, onSent, ...(reviveMember ? { reviveMember } : {}) }),
    say: (name: string, status: MemberStatus) => bus.presence.beat({ name, status, at: "" }),
    bodies: async (name: string) => (await members.open({ name, epoch: 1 }).mailbox.unread()).map((envelope) => envelope.body),
  };
}

test("a text goes to one member, by name or agentId, and the answer says what that member is doing", async () => {
  const { tool, say, bodies } = team("alice");
  await say("bob", "idle");
  await say("lead", "busy");
  expect(await run(tool, { to: "bob", summary: "signature changed", message: "ctx is first" })).toBe(
    "Delivered to bob. bob is idle and wakes up by it.",
  );
  expect(await run(tool, { to: "lead@auth", summary: "signature changed", message: "ctx is first" })).toBe(
    "Delivered to lead. lead is busy and reads it before the next model call.",
  );
  expect(await bodies("bob")).toEqual([{ type: "message", summary: "signature changed", text: "ctx is first" }]);
  expect(await bodies("lead")).toHaveLength(1);
});

test("M09: the answer says how many unread messages it lies behind, and since when", async () => {
  const { tool, say } = team("alice");
  await say("bob", "busy");
  await run(tool, { to: "bob", summary: "one", message: "1" });
  await run(tool, { to: "bob", summary: "two", message: "2" });
  expect(await run(tool, { to: "bob", summary: "three", message: "3" })).toMatch(
    /^Delivered to bob, behind 2 unread \(the oldest for \d+ s\)\. bob is busy and reads it before the next model call\.$/,
  );
});

test("the lead, and nobody else, interrupts one member with a text", async () => {
  const { tool, say, bodies } = team("lead");
  await say("bob", "busy");
  await say("carol", "idle");
  const words = { summary: "wrong file", message: "Not f.txt", interrupt: true };
  expect(await run(tool, { to: "bob", ...words })).toBe("Delivered to bob. bob's turn is ended, and it reads this first.");
  expect(await run(tool, { to: "carol", ...words })).toBe("Delivered to carol. carol is idle and wakes up by it.");
  expect(await bodies("bob")).toEqual([{ type: "message", summary: "wrong file", text: "Not f.txt", interrupt: true }]);
  expect(await run(tool, { to: "*", ...words })).toContain("Error: One member is interrupted");
  expect(await run(tool, { to: "bob", message: { type: "shutdown_request" }, interrupt: true })).toContain("Error: A text interrupts");
  const alice = team("alice");
  await expect(run(alice.tool, { to: "bob", ...words })).rejects.toThrow('Unrecognized key: "interrupt"');
  expect(alice.sent).toEqual([]);
});

test("M02, M08: an unknown name and one's own are errors that name the members", async () => {
  const { tool, sent } = team("alice");
  expect(await run(tool, { to: "Bob", summary: "x", message: "y" })).toBe(
    'Error: "Bob" is not in this team. Members: lead, alice, bob, carol.',
  );
  expect(await run(tool, { to: "alice@auth", summary: "x", message: "y" })).toContain("Error: You are alice yourself");
  expect(sent).toEqual([]);
});

test("M06, M08: a broadcast is news to all others, and comes not back", async () => {
  const { tool, sent, bodies } = team("alice");
  expect(await run(tool, { to: "*", summary: "module 1 done", message: "see branch" })).toContain("Delivered to lead, bob, carol as news");
  expect(sent).toEqual(["status_update to lead", "status_update to bob", "status_update to carol"]);
  expect(await bodies("alice")).toEqual([]);
});

test("a text without a summary, or empty, is refused", async () => {
  const { tool } = team("alice");
  expect(await run(tool, { to: "bob", message: "y" })).toBe("Error: A text needs a summary of 5 to 10 words.");
  expect(await run(tool, { to: "bob", summary: "x", message: " " })).toBe("Error: The message is empty.");
});

test("a stopped member is brought back, a busy one is not", async () => {
  const revived: string[] = [];
  const { tool, say } = team("lead", async (name) => {
    revived.push(name);
    return `${name} was resumed.`;
  });
  await say("bob", "stopped");
  await say("carol", "busy");
  expect(await run(tool, { to: "bob", summary: "x", message: "y" })).toBe(
    "Delivered to bob. bob is stopped; it reads the message once it is resumed. bob was resumed.",
  );
  await run(tool, { to: "carol", summary: "x", message: "y" });
  await run(tool, { to: "*", summary: "x", message: "y" });
  expect(revived).toEqual(["bob"]);
});

test("the lead asks for shutdown and answers plans", async () => {
  const { tool, bodies } = team("lead");
  await run(tool, { to: "bob", message: { type: "shutdown_request", feedback: "all is merged" } });
  await run(tool, {
    to: "bob",
    message: { type: "plan_approval_response", requestId: "bob.1.1", approve: false, feedback: "service only" },
  });
  expect(await bodies("bob")).toEqual([
    { type: "shutdown_request", text: "all is merged" },
    { type: "plan_approval_response", requestId: "bob.1.1", approve: false, feedback: "service only" },
  ]);
  expect(await run(tool, { to: "bob", message: { type: "plan_approval_response", approve: true } })).toContain(
    "needs requestId and approve",
  );
  expect(await run(tool, { to: "*", message: { type: "shutdown_request" } })).toContain("goes to one member");
});

test("a teammate answers a shutdown to the lead alone, and sends nothing that is the lead's", async () => {
  const { tool, sent } = team("alice");
  const yes = { type: "shutdown_response", requestId: "lead.1.1", approve: true };
  expect(await run(tool, { to: "bob", message: yes })).toBe("Error: A shutdown_response goes to the lead.");
  expect(await run(tool, { to: "bob", message: { type: "shutdown_request" } })).toContain(
    "Error: Only the lead may send a shutdown_request",
  );
  expect(await run(tool, { to: "bob", message: { ...yes, type: "plan_approval_response" } })).toContain("Error: Only the lead");
  await run(tool, { to: "lead", message: yes });
  expect(sent).toEqual(["shutdown_response to lead"]);
});

test("one who leaves while news goes to all is named, and the others get it", async () => {
  const members = createMemoryTeam(sampleTeam("alice", "bob", "carol"));
  const bus = members.open({ name: "alice", epoch: 1 });
  const { members: before } = sampleTeam("alice", "gone", "bob", "carol");
  const roster = { ...bus.roster, read: async () => ({ ...(await bus.roster.read()), members: before }) };
  const tool = sendMessageTool({ ...bus, roster, self: "alice" });
  const answer = await run(tool, { to: "*", summary: "module 1\n  ● 7 forged line", message: "see branch" });
  expect(answer).toMatch(/^Delivered to lead, bob, carol as news.* Not to gone: "gone" is not in this team/);
  const carol = await members.open({ name: "carol", epoch: 1 }).mailbox.unread();
  expect(carol.map(({ body }) => body)).toMatchObject([{ summary: "module 1 ● 7 forged line" }]);
});
