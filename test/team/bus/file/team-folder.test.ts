import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { UserError } from "../../../../src/protocol/errors.ts";
import { createFileTeam, readFileTeam } from "../../../../src/team/bus/file/open.ts";
import { tempFolder } from "../../../support/temp.ts";
import { message, sampleMember, sampleTeam } from "../sample-team.ts";
import { fileTeam } from "./file-team.ts";

test("folders are for the owner only, and so are files", async () => {
  await using team = await fileTeam("alice");
  const alice = await team.open("alice");
  await alice.mailbox.send("lead", message("x"));
  await alice.tasks.create({ subject: "x", description: "", blockedBy: [] });
  await alice.presence.beat({ name: "alice", status: "idle", at: "" });
  const entries = await readdir(team.teamFolder, { recursive: true, withFileTypes: true });
  expect(entries.filter((entry) => entry.isFile()).map((entry) => entry.name)).toHaveLength(7);
  for (const entry of entries) {
    const mode = (await stat(join(entry.parentPath, entry.name))).mode & 0o777;
    expect([entry.name, mode]).toEqual([entry.name, entry.isDirectory() ? 0o700 : 0o600]);
  }
});

test("team.json is the newest revision after changes that met", async () => {
  await using team = await fileTeam("alice");
  const [lead, alice] = [await team.open("lead"), await team.open("alice")];
  const add = (name: string) =>
    (name < "n" ? lead : alice).roster.update((now) => ({ ...now, members: [...now.members, sampleMember(name)] }));
  await Promise.all(["a1", "z1", "a2", "z2", "a3", "z3"].map(add));
  const picture = JSON.parse(await readFile(join(team.teamFolder, "team.json"), "utf8"));
  expect(picture).toEqual(await lead.roster.read());
  expect(picture.revision).toBe(7);
  expect(await readdir(join(team.teamFolder, "roster"))).toHaveLength(7);
});

test("a new member has a box before anyone can write to it", async () => {
  await using team = await fileTeam("alice");
  const lead = await team.open("lead");
  await lead.roster.update((now) => ({ ...now, members: [...now.members, sampleMember("bob")] }));
  expect((await readdir(team.inbox("bob", ""))).sort()).toEqual(["bad", "cur", "new", "tmp"]);
});

test("a team that a newer program wrote is refused in one clear line", async () => {
  await using team = await fileTeam("alice");
  await writeFile(join(team.teamFolder, "roster", "2.json"), JSON.stringify({ version: 2, revision: 2 }));
  const opened = team.open("alice");
  await expect(opened).rejects.toThrow(UserError);
  await expect(opened).rejects.toThrow("was written by a newer RooCode (format 2, this one reads 1). Update RooCode and try again.");
  await expect(readFileTeam(team.teamFolder)).rejects.toThrow("newer RooCode");
});

test("fields of a newer program in the same format survive a change by this one", async () => {
  await using team = await fileTeam("alice");
  const lead = await team.open("lead");
  const first = JSON.parse(await readFile(join(team.teamFolder, "team.json"), "utf8"));
  await writeFile(join(team.teamFolder, "roster", "2.json"), JSON.stringify({ ...first, revision: 2, colour: "blue" }));
  await lead.roster.update((now) => ({ ...now, goal: "another" }));
  expect(JSON.parse(await readFile(join(team.teamFolder, "team.json"), "utf8"))).toMatchObject({ colour: "blue", goal: "another" });
});

test("a team that is there is not made again, and one that is not there is not opened", async () => {
  await using team = await fileTeam("alice");
  await expect(createFileTeam(team.teamFolder, sampleTeam())).rejects.toThrow("roocode team resume auth");
  await using empty = await tempFolder();
  await expect(readFileTeam(join(empty.path, "none"))).rejects.toThrow("There is no team in");
});

test("readFileTeam shows members, tasks, presence and waiting mail without joining", async () => {
  await using team = await fileTeam("alice");
  const alice = await team.open("alice", 1, { pid: process.pid, startedAt: "another life" });
  await alice.mailbox.send("lead", message("x"));
  await alice.tasks.create({ subject: "x", description: "", blockedBy: [] });
  await alice.presence.beat({ name: "alice", status: "busy", at: "" });
  const before = await readdir(team.teamFolder, { recursive: true });
  expect(await readFileTeam(team.teamFolder)).toMatchObject({
    team: { name: "auth", revision: 1 },
    tasks: [{ id: "1", status: "pending" }],
    presence: [{ name: "alice", status: "dead", process: { pid: process.pid } }],
    boxes: { lead: { count: 1, waking: 1, oldestAt: expect.any(String) }, alice: { count: 0, waking: 0 } },
  });
  expect(await readdir(team.teamFolder, { recursive: true })).toEqual(before);
});
