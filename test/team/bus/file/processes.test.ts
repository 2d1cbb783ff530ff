import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sortMail } from "../../../../src/team/inbox.ts";
import { tempFolder } from "../../../support/temp.ts";
import { fileTeam } from "./file-team.ts";

type Member = ChildProcessByStdio<Writable, Readable, null>;
const folder = await tempFolder("roocode-member");
const program = join(folder.path, "member.mjs");

beforeAll(() =>
  build({
    entryPoints: [join(import.meta.dirname, "member-process.ts")],
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    outfile: program,
  }),
);
afterAll(() => folder[Symbol.asyncDispose]());

function start(...args: string[]): Member {
  return spawn(process.execPath, [program, ...args], { stdio: ["pipe", "pipe", "inherit"] });
}

test("M01: 16 processes send 40 messages each to one box: 640 delivered, each once, each sender's in order", async () => {
  const names = Array.from({ length: 16 }, (_, index) => `m${index + 1}`);
  await using team = await fileTeam(...names);
  const lead = await team.open("lead");
  const members = names.map((name) => start("send", team.teamFolder, name, "lead", "40"));
  for (const member of members) member.stdout.resume();
  const codes = await Promise.all(members.map(async (member) => (await once(member, "exit"))[0]));
  expect(codes).toEqual(names.map(() => 0));
  const mail = await lead.mailbox.unread();
  expect(new Set(mail.map((envelope) => envelope.id)).size).toBe(640);
  expect(mail).toHaveLength(640);
  for (const name of names) {
    expect(mail.filter((envelope) => envelope.from === name).map((envelope) => envelope.seq)).toEqual(
      Array.from({ length: 40 }, (_, n) => n + 1),
    );
  }
});

test("senders that are killed at any moment lose nothing that they had sent, and leave nothing torn", async () => {
  await using team = await fileTeam("alice", "bob", "carol", "dave");
  const lead = await team.open("lead", 1, undefined, { onBad: (bad) => expect.fail(bad.reason) });
  const sent: string[] = [];
  const lives = ["alice", "bob", "carol", "dave"].flatMap((name, index) => [20 + index, 7, 33].map((lines) => ({ name, lines })));
  await Promise.all(
    lives.map(async ({ name, lines }) => {
      const member = start("send", team.teamFolder, name, "lead", "100000");
      const ended = once(member, "exit");
      let seen = 0;
      for await (const id of createInterface({ input: member.stdout })) {
        sent.push(id);
        if (++seen === lines) member.kill("SIGKILL");
      }
      await ended;
    }),
  );
  const ids = (await lead.mailbox.unread()).map((envelope) => envelope.id);
  expect(sent.length).toBeGreaterThan(200);
  expect(sent.filter((id) => !ids.includes(id))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
});

test("K01: 8 processes race for one task over 25 rounds: one winner each round, the others hear who owns it", async () => {
  const names = Array.from({ length: 8 }, (_, index) => `m${index + 1}`);
  await using team = await fileTeam(...names);
  const lead = await team.open("lead");
  const members = names.map((name) => {
    const child = start("claim", team.teamFolder, name);
    return { name, child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
  });
  try {
    for (const member of members) expect((await member.lines.next()).value).toBe("ready");
    for (let round = 1; round <= 25; round++) {
      await lead.tasks.create({ subject: `round ${round}`, description: "", blockedBy: [] });
      for (const member of members) member.child.stdin.write(`${round}\n`);
      const answers = await Promise.all(members.map(async ({ name, lines }) => ({ name, text: (await lines.next()).value })));
      const winners = answers.filter((answer) => answer.text === "won");
      expect(winners).toHaveLength(1);
      const lost = new Set(answers.filter((answer) => answer.text !== "won").map((answer) => answer.text));
      expect([...lost]).toEqual([`Task ${round} is owned by ${winners[0]?.name}.`]);
      expect(await lead.tasks.get(String(round))).toMatchObject({ owner: winners[0]?.name, claim: { epoch: 2 } });
    }
  } finally {
    for (const { child } of members) {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    }
  }
});

test("a reader that dies between reading and acknowledging gets all again, and what its transcript has is skipped", async () => {
  await using team = await fileTeam("alice");
  const member = start("send", team.teamFolder, "alice", "lead", "3");
  member.stdout.resume();
  await once(member, "exit");
  const first = sortMail(await (await team.open("lead")).mailbox.unread(), "lead", new Set());
  const again = await (await team.open("lead", 2)).mailbox.unread();
  expect(again.map((envelope) => envelope.id)).toEqual(first.pending?.mail);
  const seen = sortMail(again, "lead", new Set(first.pending?.mail.slice(0, 2)));
  expect(seen.pending?.mail).toEqual(["alice.1.3"]);
  expect(seen.duplicates).toEqual(["alice.1.1", "alice.1.2"]);
});
