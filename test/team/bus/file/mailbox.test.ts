import { execFileSync } from "node:child_process";
import { appendFile, chmod, chown, copyFile, mkdir, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { BadMail } from "../../../../src/team/bus/bad-mail.ts";
import { recentMail } from "../../../../src/team/bus/file/box.ts";
import { teamLayout } from "../../../../src/team/bus/file/layout.ts";
import { macOf, openMailKeys } from "../../../../src/team/bus/file/mail-keys.ts";
import { sortMail } from "../../../../src/team/inbox.ts";
import { message } from "../sample-team.ts";
import { fileTeam } from "./file-team.ts";

const noSignal = new AbortController().signal;

test("M03: malformed files are set aside once, with a log line and word to a sender that is proven, and the good message comes", async () => {
  await using team = await fileTeam("alice", "bob");
  const bad: BadMail[] = [];
  const bob = await team.open("bob", 1, undefined, { onBad: (one) => bad.push(one) });
  const alice = await team.open("alice");
  // Her key is made by her first message.
  await alice.mailbox.send("lead", message("hello"));
  const key = (await readFile(join(team.teamFolder, "keys", "alice.key"), "utf8")).trim();
  const put = (name: string, text: string) => writeFile(team.inbox("bob", "new", name), text, { mode: 0o600 });
  const sign = (envelope: object) => JSON.stringify({ ...envelope, mac: macOf(envelope, key) });
  const good = { version: 1, id: "alice.9.1", epoch: 9, seq: 1, from: "alice", to: "bob", at: "", body: message("x") };
  await put("01.json", "");
  await put("02.json", '{"version":1,"from":"al');
  await put("03.json", '{"version":1,"text":"a\nb"}');
  await put("04.json", sign({ ...good, seq: "one" }));
  await put("05.json", sign({ ...good, to: "lead" }));
  await put("06.json", sign({ ...good, body: { type: "make_coffee" } }));
  await put("07.json", sign({ ...good, body: message("x".repeat(300_000)) }));
  await put("08.json", sign({ ...good, id: "lead.9.1" }));
  await put("outside", JSON.stringify(good));
  await symlink(team.inbox("bob", "new", "outside"), team.inbox("bob", "new", "09.json"));
  await mkdir(team.inbox("bob", "new", "10.json"));
  execFileSync("mkfifo", [team.inbox("bob", "new", "11.json")]);
  await rm(team.inbox("bob", "new", "outside"));
  await alice.mailbox.send("bob", message("good"));
  expect((await bob.mailbox.unread()).map((envelope) => envelope.id)).toEqual(["alice.1.2"]);
  expect(bad.map((one) => one.file.split("/").at(-1)?.slice(0, 2))).toEqual([
    "01",
    "02",
    "03",
    "04",
    "05",
    "06",
    "07",
    "08",
    "09",
    "10",
    "11",
  ]);
  expect(bad.map((one) => one.reason)).toContain('it is addressed to "lead"');
  expect(bad.filter((one) => one.from !== undefined)).toHaveLength(4);
  await bob.mailbox.unread();
  expect(bad).toHaveLength(11);
  const told = await alice.mailbox.unread();
  expect(told).toHaveLength(4);
  expect(told[0]?.body).toMatchObject({ type: "status_update", text: expect.stringContaining("was set aside by bob") });
});

test.skipIf(process.getuid?.() !== 0)("M03: a file that belongs to another user is set aside", async () => {
  await using team = await fileTeam("alice", "bob");
  const bad: BadMail[] = [];
  const bob = await team.open("bob", 1, undefined, { onBad: (one) => bad.push(one) });
  await (await team.open("alice")).mailbox.send("bob", message("x"));
  const [name = ""] = await readdir(team.inbox("bob", "new"));
  await chown(team.inbox("bob", "new", name), 12345, 12345);
  expect(await bob.mailbox.unread()).toEqual([]);
  expect(bad.map((one) => one.reason)).toEqual(["it belongs to another user (12345)"]);
});

test("M04: of one message file that was copied twice the model reads the text once, and all copies go", async () => {
  await using team = await fileTeam("alice", "bob");
  const bob = await team.open("bob");
  await (await team.open("alice")).mailbox.send("bob", message("only once"));
  const [name = ""] = await readdir(team.inbox("bob", "new"));
  for (const copy of ["a", "b"]) await copyFile(team.inbox("bob", "new", name), team.inbox("bob", "new", `${name}.${copy}.json`));
  const sorted = sortMail(await bob.mailbox.unread(), "bob", new Set());
  expect(sorted.pending?.reminder.match(/only once/g)).toHaveLength(1);
  await bob.mailbox.acknowledge(sorted.pending?.mail ?? []);
  expect(await bob.mailbox.unread()).toEqual([]);
  expect(await readdir(team.inbox("bob", "new"))).toEqual([]);
});

test("M05: 5,000 old messages do not delay a new one, and are pruned", async () => {
  await using team = await fileTeam("alice");
  const lead = await team.open("lead");
  const old = Array.from({ length: 5000 }, (_, index) => `${String(index).padStart(14, "0")}.00000001.1-a.json`);
  await Promise.all(old.map((name) => appendFile(team.inbox("lead", "cur", name), "x".repeat(400))));
  const id = await (await team.open("alice")).mailbox.send("lead", message("new"));
  const started = performance.now();
  await lead.mailbox.arrival(noSignal);
  const mail = await lead.mailbox.unread();
  expect(performance.now() - started).toBeLessThan(2000);
  await lead.mailbox.acknowledge(mail.map((envelope) => envelope.id));
  expect(mail.map((envelope) => envelope.id)).toEqual([id]);
  const kept = await readdir(team.inbox("lead", "cur"));
  expect(kept).toHaveLength(200);
  expect(kept).not.toContain(old[0]);
});

test("M05: over a long session with restarts the box stays bounded, and a message that was pruned and comes again is known by the transcript", async () => {
  await using team = await fileTeam("alice");
  const alice = await team.open("alice");
  const first = await alice.mailbox.send("lead", message("first"));
  const ids: string[] = [];
  const [name = ""] = await readdir(team.inbox("lead", "new"));
  const kept = join(team.teamFolder, "kept.json");
  await copyFile(team.inbox("lead", "new", name), kept);
  for (let life = 1; life <= 5; life++) {
    const lead = await team.open("lead", life);
    for (let count = 0; count < 52; count++) ids.push(await alice.mailbox.send("lead", message(`${life}.${count}`)));
    await lead.mailbox.acknowledge((await lead.mailbox.unread()).map(({ id }) => id));
  }
  expect(ids).toHaveLength(260);
  const left = await readdir(team.inbox("lead", "cur"));
  expect(left.length).toBeLessThanOrEqual(250);
  expect(left).not.toContain(name);
  await copyFile(kept, team.inbox("lead", "new", name));
  const sorted = sortMail(await (await team.open("lead", 7)).mailbox.unread(), "lead", new Set([first, ...ids]));
  expect(sorted).toMatchObject({ wakes: false, duplicates: [first] });
  expect(sorted.pending).toBeUndefined();
});

test("M09: the newest messages of all boxes with who has read which; a file that proves nothing is not among them", async () => {
  await using team = await fileTeam("alice", "bob");
  const [alice, bob] = [await team.open("alice"), await team.open("bob")];
  const ids: string[] = [];
  for (const to of ["lead", "bob", "bob"]) {
    team.clock.now += 10;
    ids.push(await alice.mailbox.send(to, message(`to ${to}`)));
  }
  await bob.mailbox.unread();
  await bob.mailbox.acknowledge([ids[1] ?? ""]);
  await writeFile(team.inbox("bob", "new", `${Date.now() + 9_000}`.padStart(14, "0").concat(".1.x.json")), "{}", { mode: 0o600 });
  const letters = await recentMail(team.teamFolder, ["lead", "alice", "bob"], 10);
  expect(letters.map(({ id, to, isRead, summary }) => [id, to, isRead, summary])).toEqual([
    [ids[0], "lead", false, "a word"],
    [ids[1], "bob", true, "a word"],
    [ids[2], "bob", false, "a word"],
  ]);
  expect((await recentMail(team.teamFolder, ["lead", "bob"], 2)).map(({ id }) => id)).toEqual([ids[2]]);
});

test("a send that can't write rejects, leaves nothing in the box, and the next one arrives", async () => {
  await using team = await fileTeam("alice", "bob");
  const [alice, bob] = [await team.open("alice"), await team.open("bob")];
  await rm(team.inbox("bob", "tmp"), { recursive: true });
  await writeFile(team.inbox("bob", "tmp"), "no folder");
  await expect(alice.mailbox.send("bob", message("lost"))).rejects.toThrow();
  expect(await readdir(team.inbox("bob", "new"))).toEqual([]);
  await rm(team.inbox("bob", "tmp"));
  await alice.mailbox.send("bob", message("found"));
  expect((await bob.mailbox.unread()).map((envelope) => envelope.body)).toEqual([message("found")]);
});

test("a message that can't be put into the box leaves nothing aside either", async () => {
  await using team = await fileTeam("alice", "bob");
  await rm(team.inbox("bob", "new"), { recursive: true });
  await writeFile(team.inbox("bob", "new"), "no folder");
  await expect((await team.open("alice")).mailbox.send("bob", message("lost"))).rejects.toThrow();
  expect(await readdir(team.inbox("bob", "tmp"))).toEqual([]);
});

test("a file event wakes the reader long before the sweep", async () => {
  await using team = await fileTeam("alice", "bob");
  const bob = await team.open("bob", 1, undefined, { sweepMs: 600_000 });
  expect(bob.isWatching).toBe(true);
  const woken = bob.mailbox.arrival(noSignal);
  await (await team.open("alice")).mailbox.send("bob", message("now"));
  await woken;
});

test("where the system refuses to watch, or loses an event, the sweep finds the message", async () => {
  await using team = await fileTeam("alice", "bob");
  const refused = await team.open("bob", 1, undefined, { watch: () => undefined, blindSweepMs: 10, sweepMs: 600_000 });
  const deaf = await team.open("bob", 1, undefined, { watch: () => ({ close: () => undefined }), sweepMs: 10 });
  expect([refused.isWatching, deaf.isWatching]).toEqual([false, true]);
  const woken = [refused.mailbox.arrival(noSignal), deaf.mailbox.arrival(noSignal)];
  await (await team.open("alice")).mailbox.send("bob", message("now"));
  await Promise.all(woken);
});

test("a text over 256 kB travels as a file of the team, whose path and beginning the message holds", async () => {
  await using team = await fileTeam("alice", "bob");
  const long = `begin ${"é".repeat(200_000)} end`;
  await (await team.open("alice")).mailbox.send("bob", message(long));
  const [envelope] = await (await team.open("bob")).mailbox.unread();
  const text = envelope && "text" in envelope.body ? envelope.body.text : "";
  expect(text.length).toBeLessThan(3000);
  expect(text.startsWith("begin é")).toBe(true);
  const path = /whole text is in (.*)\]/.exec(text)?.[1] ?? "";
  expect(await readFile(path, "utf8")).toBe(long);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test("what a killed sender left aside is removed after an hour, not before", async () => {
  await using team = await fileTeam("alice");
  await writeFile(team.inbox("alice", "tmp", "old.json"), "ha");
  await writeFile(team.inbox("alice", "tmp", "young.json"), "ha");
  const past = new Date(Date.now() - 2 * 3_600_000);
  await utimes(team.inbox("alice", "tmp", "old.json"), past, past);
  await team.open("alice");
  expect(await readdir(team.inbox("alice", "tmp"))).toEqual(["young.json"]);
});

test("mail is believed only with the code of the key of whom it names; of a forger, a changed text and an open file nothing is used", async () => {
  await using team = await fileTeam("alice", "bob");
  const bad: BadMail[] = [];
  const bob = await team.open("bob", 1, undefined, { onBad: (one) => bad.push(one) });
  const [alice, lead] = [await team.open("alice"), await team.open("lead")];
  await alice.mailbox.send("bob", message("mine"));
  await lead.mailbox.send("bob", message("the lead's"));
  const names = (await readdir(team.inbox("bob", "new"))).sort();
  const texts = await Promise.all(names.map((name) => readFile(team.inbox("bob", "new", name), "utf8")));
  const envelope = JSON.parse(texts.find((text) => text.includes("mine")) ?? "");
  const put = (name: string, value: object, mode = 0o600) => writeFile(team.inbox("bob", "new", name), JSON.stringify(value), { mode });
  const forged = { ...envelope, id: "lead.1.50", from: "lead", seq: 50 };
  await put("a.json", { ...forged, mac: undefined });
  await put("b.json", forged);
  await put("c.json", { ...forged, mac: macOf(forged, (await readFile(join(team.teamFolder, "keys", "alice.key"), "utf8")).trim()) });
  await put("d.json", { ...envelope, body: message("other words") });
  await put("e.json", envelope, 0o644);
  await put("f.json", { ...forged, from: "../keys/alice", id: "../keys/alice.1.50" });
  await put("g.json", { ...forged, from: "nobody", id: "nobody.1.50" });
  // The same fields in another order are the same message.
  await put("h.json", Object.fromEntries(Object.entries(envelope).reverse()));
  expect((await bob.mailbox.unread()).map(({ id }) => id).sort()).toEqual(["alice.1.1", "alice.1.1", "lead.1.1"]);
  expect(bad.map(({ file, from }) => [file.split("/").at(-1)?.slice(0, 1), from])).toEqual([..."abcdefg"].map((name) => [name, undefined]));
  expect(bad[4]?.reason).toContain("644");
});

test("a key is made once, closed to others, and proves mail of earlier runs; one that others can read proves nothing", async () => {
  await using team = await fileTeam("alice", "bob");
  const first = await team.open("alice");
  const second = await team.open("alice", 2);
  await Promise.all([first.mailbox.send("bob", message("one")), second.mailbox.send("bob", message("two"))]);
  const key = join(team.teamFolder, "keys", "alice.key");
  expect((await stat(key)).mode & 0o7777).toBe(0o600);
  expect((await stat(join(team.teamFolder, "keys"))).mode & 0o777).toBe(0o700);
  expect(await readdir(join(team.teamFolder, "keys"))).toEqual(["alice.key"]);
  expect(await (await team.open("bob", 7)).mailbox.unread()).toHaveLength(2);
  await first.mailbox.send("bob", message("three"));
  await chmod(key, 0o644);
  const bad: BadMail[] = [];
  expect(await (await team.open("bob", 8, undefined, { onBad: (one) => bad.push(one) })).mailbox.unread()).toEqual([]);
  expect(bad).toHaveLength(3);
});

test("a sender's name is no path: a key that lies elsewhere proves nothing", async () => {
  await using team = await fileTeam("alice");
  const name = "../elsewhere";
  await writeFile(join(team.teamFolder, "elsewhere.key"), `${"0".repeat(64)}\n`, { mode: 0o600 });
  await mkdir(join(team.teamFolder, "keys"), { recursive: true });
  expect(await openMailKeys(teamLayout(team.teamFolder)).of(name)).toBeUndefined();
});

test("a role is part of the proof: what only the lead may send is set aside from anyone else, and the sender hears why", async () => {
  await using team = await fileTeam("alice", "bob");
  const bad: BadMail[] = [];
  const bob = await team.open("bob", 1, undefined, { onBad: (one) => bad.push(one) });
  const alice = await team.open("alice");
  await alice.mailbox.send("bob", { type: "shutdown_request", text: "stop" });
  await alice.mailbox.send("bob", { type: "task_assignment", summary: "s", text: "t" });
  expect(await bob.mailbox.unread()).toEqual([]);
  expect(bad.map(({ reason, from }) => [from, reason.slice(0, 22)])).toEqual([
    ["alice", "only the lead may send"],
    ["alice", "only the lead may send"],
  ]);
  expect((await alice.mailbox.unread())[0]?.body).toMatchObject({
    text: expect.stringContaining("only the lead may send shutdown_request"),
  });
});
