import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { processStart, selfIdentity } from "../../../src/platform/process.ts";
import { RevisionConflict } from "../../../src/protocol/errors.ts";
import type { Envelope, ProcessIdentity, TaskList, TeamBus } from "../../../src/protocol/team.ts";
import { releaseDead } from "../../../src/team/release-dead.ts";
import { claimPatch } from "../../../src/team/task-rules.ts";
import { message, sampleMember } from "./sample-team.ts";

/** `lead`, `alice` and `bob`; `open` again is a member that starts anew in the same team. */
export type TestTeam = AsyncDisposable & {
  clock: { now: number };
  open(name: string, epoch?: number, process?: ProcessIdentity): Promise<TeamBus>;
};

const noSignal = new AbortController().signal;

/** What every TeamBus must do. */
export function busContract(name: string, makeTeam: () => Promise<TestTeam>): void {
  describe(`${name} bus: mailbox`, () => {
    test("a message arrives whole, from its sender, under the id that send gave", async () => {
      await using team = await makeTeam();
      const [alice, bob] = [await team.open("alice"), await team.open("bob")];
      const id = await alice.mailbox.send("bob", message("Authenticate() takes ctx now"));
      expect(await bob.mailbox.unread()).toEqual([
        {
          version: 1,
          id,
          epoch: 1,
          seq: 1,
          from: "alice",
          to: "bob",
          at: expect.any(String),
          body: message("Authenticate() takes ctx now"),
        },
      ]);
    });

    test("a message that was not acknowledged comes again after a crash", async () => {
      await using team = await makeTeam();
      const [alice, bob] = [await team.open("alice"), await team.open("bob")];
      await alice.mailbox.send("bob", message("one"));
      await bob.mailbox.unread();
      const reborn = await team.open("bob", 2);
      expect(texts(await reborn.mailbox.unread())).toEqual(["one"]);
    });

    test("an acknowledged message never comes again, also when the ids come from a transcript", async () => {
      await using team = await makeTeam();
      const [alice, bob] = [await team.open("alice"), await team.open("bob")];
      const id = await alice.mailbox.send("bob", message("one"));
      await alice.mailbox.send("bob", message("two"));
      await bob.mailbox.acknowledge([id]);
      expect(texts(await bob.mailbox.unread())).toEqual(["two"]);
      expect(texts(await (await team.open("bob", 2)).mailbox.unread())).toEqual(["two"]);
    });

    test("M02: an unknown recipient, a wrong case, or one that has left is an error that names the members", async () => {
      await using team = await makeTeam();
      const alice = await team.open("alice");
      await alice.roster.update((config) => ({ ...config, members: [...config.members, sampleMember("carol")] }));
      await alice.mailbox.send("carol", message("hello"));
      await alice.roster.update((config) => ({ ...config, members: config.members.filter((member) => member.name !== "carol") }));
      for (const wrong of ["Bob", "main", "worker", "carol", "../bob", ""]) {
        await expect(alice.mailbox.send(wrong, message("hello"))).rejects.toThrow("Members: lead, alice, bob.");
      }
    });

    test("M08: sending to oneself is an error", async () => {
      await using team = await makeTeam();
      const alice = await team.open("alice");
      await expect(alice.mailbox.send("alice", message("me"))).rejects.toThrow("You are alice yourself");
      expect(await alice.mailbox.unread()).toEqual([]);
    });

    test("M10: 50 messages in a burst are read in order, with the clock set back one hour in the middle", async () => {
      await using team = await makeTeam();
      const [lead, alice] = [await team.open("lead"), await team.open("alice")];
      const sent: Promise<string>[] = [];
      for (let number = 1; number <= 50; number++) {
        sent.push(lead.mailbox.send("alice", message(String(number))));
        if (number === 25) {
          await Promise.all(sent);
          team.clock.now -= 3_600_000;
        }
      }
      await Promise.all(sent);
      expect(texts(await alice.mailbox.unread())).toEqual(Array.from({ length: 50 }, (_, index) => String(index + 1)));
    });

    test("M10: a sender that was started anew under a clock set back is read after its earlier messages", async () => {
      await using team = await makeTeam();
      const [lead, alice] = [await team.open("lead", 1), await team.open("alice")];
      await lead.mailbox.send("alice", message("first"));
      team.clock.now -= 3_600_000;
      const reborn = await team.open("lead", 2);
      await reborn.mailbox.send("alice", message("second"));
      expect(texts(await alice.mailbox.unread())).toEqual(["first", "second"]);
    });

    test("two openers with the same epoch never give out one id twice", async () => {
      await using team = await makeTeam();
      const [one, two, alice] = [await team.open("lead", 1), await team.open("lead", 1), await team.open("alice")];
      const ids = [await one.mailbox.send("alice", message("a")), await two.mailbox.send("alice", message("b"))];
      expect(new Set(ids).size).toBe(2);
      expect((await alice.mailbox.unread()).map((envelope) => envelope.id).sort()).toEqual(ids.sort());
    });

    test("M06, M09: anyone can look how much lies unread in a box, since when, and how much of it wakes", async () => {
      await using team = await makeTeam();
      const [lead, alice, bob] = [await team.open("lead"), await team.open("alice"), await team.open("bob")];
      expect(await lead.mailbox.waitingFor("bob")).toEqual({ count: 0, waking: 0 });
      const first = new Date(team.clock.now).toISOString();
      await lead.mailbox.send("bob", { type: "status_update", summary: "news", text: "alice is done" });
      team.clock.now += 5_000;
      const id = await alice.mailbox.send("bob", message("look"));
      expect(await lead.mailbox.waitingFor("bob")).toEqual({ count: 2, waking: 1, oldestAt: first });
      await bob.mailbox.unread();
      await bob.mailbox.acknowledge([id]);
      expect(await lead.mailbox.waitingFor("bob")).toEqual({ count: 1, waking: 0, oldestAt: first });
    });

    test("arrival resolves at once for mail that nobody has looked at", async () => {
      await using team = await makeTeam();
      const [alice, bob] = [await team.open("alice"), await team.open("bob")];
      await alice.mailbox.send("bob", message("one"));
      await bob.mailbox.arrival(noSignal);
    });

    test("arrival wakes up by a message that comes later, not by one that was read and is still open", async () => {
      await using team = await makeTeam();
      const [alice, bob] = [await team.open("alice"), await team.open("bob")];
      await alice.mailbox.send("bob", message("old"));
      await bob.mailbox.unread();
      let hasWoken = false;
      const woken = bob.mailbox.arrival(noSignal).then(() => {
        hasWoken = true;
      });
      for (let look = 0; look < 5; look++) await bob.mailbox.unread();
      expect(hasWoken).toBe(false);
      await alice.mailbox.send("bob", message("new"));
      await woken;
      expect(texts(await bob.mailbox.unread())).toEqual(["old", "new"]);
    });

    test("arrival rejects when it is aborted", async () => {
      await using team = await makeTeam();
      const bob = await team.open("bob");
      const controller = new AbortController();
      const waiting = bob.mailbox.arrival(controller.signal);
      controller.abort(new Error("stop now"));
      await expect(waiting).rejects.toThrow("stop now");
    });
  });

  describe(`${name} bus: tasks`, () => {
    test("K07: the same key twice is one task, and an id never comes again", async () => {
      await using team = await makeTeam();
      const { tasks } = await team.open("lead");
      const first = await tasks.create(task("data layer", { key: "data" }));
      expect(await tasks.create(task("data layer", { key: "data" }))).toEqual(first);
      const others = [first, await tasks.create(task("b")), await tasks.create(task("c"))];
      for (const { id, revision } of others) await tasks.update(id, revision, { status: "cancelled" });
      expect((await tasks.create(task("d"))).id).toBe("4");
    });

    test("K07: creators at the same time get one task for one key, and different ids otherwise", async () => {
      await using team = await makeTeam();
      const [alice, bob] = [await team.open("alice"), await team.open("bob")];
      const same = await Promise.all([alice, bob, alice, bob].map((bus) => bus.tasks.create(task("x", { key: "x" }))));
      expect(new Set(same.map((one) => one.id)).size).toBe(1);
      const different = await Promise.all([alice, bob, alice, bob].map((bus, index) => bus.tasks.create(task(`task ${index}`))));
      expect(new Set(different.map((one) => one.id)).size).toBe(4);
      expect((await alice.tasks.list()).filter((one) => one.key === "x")).toHaveLength(1);
    });

    test("K03: a blocked task can't be begun or completed, and the refusal names what blocks it", async () => {
      await using team = await makeTeam();
      const { tasks } = await team.open("alice");
      await tasks.create(task("one"));
      const two = await tasks.create(task("two", { blockedBy: ["1"] }));
      await expect(tasks.update("2", two.revision, claimPatch(two, "alice", selfIdentity()))).rejects.toThrow(
        "blocked by task 1 (pending)",
      );
      await expect(tasks.update("2", two.revision, { status: "completed" })).rejects.toThrow("Task 2 is pending");
      expect(await tasks.get("2")).toEqual(two);
      await complete(tasks, "1", "alice");
      await tasks.update("2", two.revision, claimPatch(two, "alice", selfIdentity()));
    });

    test("K04: an edge to nowhere, to itself, or one that closes a circle is an error, and nothing is written", async () => {
      await using team = await makeTeam();
      const { tasks } = await team.open("lead");
      await expect(tasks.create(task("x", { blockedBy: ["99"] }))).rejects.toThrow("There is no task 99");
      await tasks.create(task("one"));
      await tasks.create(task("two", { blockedBy: ["1"] }));
      await tasks.create(task("three", { blockedBy: ["2"] }));
      const before = await tasks.list();
      expect(before).toHaveLength(3);
      for (const [blockedBy, reason] of [
        [["1"], "blocked by itself"],
        [["3"], "1 waits for 3 waits for 2 waits for 1"],
        [["2", "99"], "There is no task 99"],
      ] as const) {
        await expect(tasks.update("1", 1, { blockedBy: [...blockedBy] })).rejects.toThrow(reason);
      }
      expect(await tasks.list()).toEqual(before);
    });

    test("K04: two edges written at once that together close a circle do not both stay", async () => {
      await using team = await makeTeam();
      const [alice, bob] = [await team.open("alice"), await team.open("bob")];
      await alice.tasks.create(task("one"));
      await alice.tasks.create(task("two"));
      const results = await Promise.allSettled([
        alice.tasks.update("1", 1, { blockedBy: ["2"] }),
        bob.tasks.update("2", 1, { blockedBy: ["1"] }),
      ]);
      expect(results.some((result) => result.status === "rejected")).toBe(true);
      expect((await alice.tasks.list()).filter((one) => one.blockedBy.length > 0).length).toBeLessThan(2);
    });

    test("of two who change the same revision one wins, the other gets a conflict with the revision of now", async () => {
      await using team = await makeTeam();
      const [alice, bob] = [await team.open("alice"), await team.open("bob")];
      const made = await alice.tasks.create(task("one"));
      const results = await Promise.allSettled([
        alice.tasks.update("1", 1, claimPatch(made, "alice", selfIdentity())),
        bob.tasks.update("1", 1, claimPatch(made, "bob", selfIdentity())),
      ]);
      expect(results.map((result) => result.status).sort()).toEqual(["fulfilled", "rejected"]);
      const lost = results.find((result) => result.status === "rejected");
      expect(lost?.reason).toBeInstanceOf(RevisionConflict);
      expect(lost?.reason).toMatchObject({ current: 2 });
    });

    test("what a living member has in progress is not claimed by another", async () => {
      await using team = await makeTeam();
      const { tasks } = await team.open("alice");
      const made = await tasks.create(task("one"));
      const claimed = await tasks.update("1", 1, claimPatch(made, "alice", selfIdentity()));
      await expect(tasks.update("1", 2, claimPatch(claimed, "bob", selfIdentity()))).rejects.toThrow("owned by alice");
    });

    test("a dead owner's task goes back with a note, once, and its late completion is refused", async () => {
      await using team = await makeTeam();
      const [lead, bob] = [await team.open("lead"), await team.open("bob")];
      const made = await lead.tasks.create(task("one"));
      const old = await lead.tasks.update("1", 1, claimPatch(made, "alice", { pid: process.pid, startedAt: "another life" }));
      const gone = (claim: ProcessIdentity) => processStart(claim.pid) === claim.startedAt;
      const both = await Promise.all([
        releaseDead(lead.tasks, gone, async () => "Branch a, f.txt is dirty."),
        releaseDead(bob.tasks, gone),
      ]);
      expect(both.flat()).toHaveLength(1);
      const free = await bob.tasks.get("1");
      expect(free).toMatchObject({ status: "pending", attempts: 2, note: expect.stringContaining("alice ended while working on this") });
      expect(free).not.toHaveProperty("claim");
      expect(free).not.toHaveProperty("owner");
      if (!free) throw new Error("the task is there");
      const taken = await bob.tasks.update("1", free.revision, claimPatch(free, "bob", selfIdentity()));
      await expect(lead.tasks.update("1", taken.revision, { status: "completed", claim: old.claim })).rejects.toThrow("taken over by bob");
      await bob.tasks.update("1", taken.revision, { status: "completed", claim: taken.claim, commit: "abc" });
    });

    test("undefined in a patch clears the field, and a status can't go where it can't", async () => {
      await using team = await makeTeam();
      const { tasks } = await team.open("lead");
      await tasks.create(task("one", { check: "npm test" }));
      const cleared = await tasks.update("1", 1, { check: undefined, status: "cancelled", subject: undefined });
      expect(cleared.subject).toBe("one");
      expect(cleared).not.toHaveProperty("check");
      await expect(tasks.update("1", 2, { status: "failed" })).rejects.toThrow("Task 1 is cancelled and can't become failed");
      await expect(tasks.update("7", 1, { subject: "x" })).rejects.toThrow("There is no task 7");
      expect(await tasks.get("../1")).toBeUndefined();
    });
  });

  describe(`${name} bus: roster and presence`, () => {
    test("changes of the roster that meet are all in it, each a revision on", async () => {
      await using team = await makeTeam();
      const [lead, alice] = [await team.open("lead"), await team.open("alice")];
      const change = (bus: TeamBus, who: string) =>
        bus.roster.update((config) => ({ ...config, members: [...config.members, sampleMember(who)] }));
      await Promise.all([change(lead, "carol"), change(alice, "dave"), change(lead, "erin"), change(alice, "frank")]);
      const config = await lead.roster.read();
      expect(config.members.map((member) => member.name).sort()).toEqual(["alice", "bob", "carol", "dave", "erin", "frank"]);
      expect(config.revision).toBe(5);
    });

    test("a beat that tells nothing of what was spent leaves what its member told, whoever sends it", async () => {
      await using team = await makeTeam();
      const [lead, alice] = [await team.open("lead"), await team.open("alice")];
      const spent = (cost: number) => ({ usage: { input: 10, output: 2, cacheRead: 3, cacheWrite: 4 }, cost });
      await lead.presence.beat({ name: "alice", status: "starting", at: "" });
      await Promise.all([
        alice.presence.beat({ name: "alice", status: "busy", at: "", spent: spent(1) }),
        alice.presence.beat({ name: "alice", status: "busy", at: "", spent: spent(2) }),
        alice.presence.beat({ name: "alice", status: "idle", at: "" }),
      ]);
      expect(await lead.presence.list()).toEqual([{ name: "alice", status: "idle", at: "", spent: spent(2) }]);
      await lead.presence.beat({ name: "alice", status: "starting", at: "" });
      expect(await alice.presence.list()).toEqual([{ name: "alice", status: "starting", at: "", spent: spent(2) }]);
    });

    test("presence is what each said last, but dead when its process is gone, unreachable when it is suspended", async () => {
      await using team = await makeTeam();
      const child = spawn("sleep", ["60"], { stdio: "ignore" });
      try {
        await once(child, "spawn");
        const pid = child.pid ?? 0;
        const sleeper = { pid, startedAt: processStart(pid) ?? "" };
        const at = new Date(0).toISOString();
        const say = async (who: string, status: "busy" | "idle" | "stopped", of: ProcessIdentity) =>
          (await team.open(who, 1, of)).presence.beat({ name: who, status, at });
        await say("alice", "idle", selfIdentity());
        await say("bob", "busy", sleeper);
        await say("carol", "stopped", { pid, startedAt: "another life" });
        await say("dave", "busy", { pid, startedAt: "another life" });
        const lead = await team.open("lead");
        const now = async () => (await lead.presence.list()).map(({ name: who, status }) => `${who} ${status}`);
        expect(await now()).toEqual(["alice idle", "bob busy", "carol stopped", "dave dead"]);
        child.kill("SIGSTOP");
        await expect.poll(now).toContain("bob unreachable");
        child.kill("SIGKILL");
        await expect.poll(now).toContain("bob dead");
      } finally {
        child.kill("SIGKILL");
      }
    });
  });
}

function texts(envelopes: readonly Envelope[]): string[] {
  return envelopes.map(({ body }) => ("text" in body ? body.text : ""));
}

type NewTask = Parameters<TaskList["create"]>[0];
function task(subject: string, extra: Partial<NewTask> = {}): NewTask {
  return { subject, description: "", blockedBy: [], ...extra };
}

async function complete(tasks: TaskList, id: string, owner: string): Promise<void> {
  const made = await tasks.get(id);
  if (!made) throw new Error(`there is no task ${id}`);
  const claimed = await tasks.update(id, made.revision, claimPatch(made, owner, selfIdentity()));
  await tasks.update(id, claimed.revision, { status: "completed", claim: claimed.claim, commit: "abc" });
}
