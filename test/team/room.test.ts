import { expect, test } from "vitest";
import type { MemberStatus } from "../../src/protocol/team.ts";
import { createMemoryTeam } from "../../src/team/bus/memory.ts";
import { RoomForTeammates } from "../../src/team/room.ts";
import { message, sampleTeam } from "./bus/sample-team.ts";

const noSignal = new AbortController().signal;

test("when the team is full an idle member gives its place up, but none that has a message to read; a broadcast is no reason to stay", async () => {
  const memory = createMemoryTeam(sampleTeam("alice", "bob", "carol"));
  const bus = memory.open({ name: "lead", epoch: 1 });
  const asked: string[] = [];
  const beat = (name: string, status: MemberStatus) => bus.presence.beat({ name, status, at: "" });
  await beat("alice", "idle");
  await beat("bob", "idle");
  await bus.mailbox.send("alice", message("work for you"));
  await bus.mailbox.send("bob", { type: "status_update", summary: "news", text: "news" });
  const bob = memory.open({ name: "bob", epoch: 1 });
  const room = new RoomForTeammates(bus, 2, async (name) => {
    asked.push(name);
    await beat(name, "stopped");
  });
  await room.take("carol", noSignal);
  expect(asked).toEqual(["bob"]);
  expect((await bob.mailbox.unread()).map(({ body }) => body.type)).toEqual(["status_update", "shutdown_request"]);
});
