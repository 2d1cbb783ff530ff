import { execFileSync } from "node:child_process";
import { appendFile, copyFile, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { UserError } from "../../../../src/protocol/errors.ts";
import { readFileTeam } from "../../../../src/team/bus/file/open.ts";
import { LogReader, logPath, parseLogLine } from "../../../../src/team/team-log.ts";
import { fileTeam } from "./file-team.ts";

const ODD: Record<string, (path: string) => unknown> = {
  "a FIFO": (path) => execFileSync("mkfifo", [path]),
  "a folder": (path) => mkdir(path),
  "a link to itself": (path) => symlink(path, path),
  "a device": (path) => symlink("/dev/zero", path),
  "half a JSON": (path) => writeFile(path, '{ "id": "1'),
  "bytes of zero": (path) => writeFile(path, Buffer.alloc(200)),
  "a BOM": (path) => writeFile(path, "\ufeff{}"),
  "another thing's JSON": (path) => writeFile(path, '{ "id": 7 }'),
};

test.each(Object.entries(ODD))("%s in the place of a revision is one line that names it, for roster and task", async (_what, make) => {
  for (const part of ["roster", join("tasks", "1")]) {
    await using team = await fileTeam("alice");
    const lead = await team.open("lead");
    await lead.tasks.create({ subject: "x", description: "", blockedBy: [] });
    const path = join(team.teamFolder, part, "2.json");
    await make(path);
    const error = await readFileTeam(team.teamFolder).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UserError);
    expect(String(error)).toContain(`${path} `);
    expect(String(error)).toContain("Put 1.json of that folder in its place");
  }
});

test.each(Object.entries(ODD))("%s in the place of a presence record is about nobody, and the others are told", async (_what, make) => {
  await using team = await fileTeam("alice", "bob");
  const alice = await team.open("alice");
  await alice.presence.beat({ name: "alice", status: "idle", at: "" });
  await make(join(team.teamFolder, "presence", "bob.json"));
  expect((await alice.presence.list()).map(({ name }) => name)).toEqual(["alice"]);
});

test("what is no folder is named, and a number that no revision can have counts for nothing", async () => {
  await using team = await fileTeam("alice");
  const lead = await team.open("lead");
  await copyFile(join(team.teamFolder, "roster", "1.json"), join(team.teamFolder, "roster", "99999999999999999999999.json"));
  expect((await readFileTeam(team.teamFolder)).team.name).toBe("auth");
  await writeFile(join(team.teamFolder, "tasks", "1"), "");
  await expect(lead.tasks.list()).rejects.toThrow(/tasks\/1 is no folder of a team/);
  await rm(join(team.teamFolder, "tasks"), { recursive: true });
  await writeFile(join(team.teamFolder, "tasks"), "");
  await expect(lead.tasks.create({ subject: "x", description: "", blockedBy: [] })).rejects.toThrow(UserError);
});

test("an older revision that a person put in the place of a damaged one is gone on from", async () => {
  await using team = await fileTeam("alice");
  const roster = join(team.teamFolder, "roster");
  await copyFile(join(roster, "1.json"), join(roster, "2.json"));
  const lead = await team.open("lead");
  expect((await lead.roster.update((now) => ({ ...now, goal: "more" }))).revision).toBe(3);
});

test("a log that is no file is one line, and lines of no member are none", async () => {
  await using team = await fileTeam("alice");
  const path = logPath(team.teamFolder);
  const lines = ["null", "3", "{}", '{"at":1,"agent":2,"event":3}', '{"at":"","agent":"a","event":{"type":"message"}}', "{ half"];
  await appendFile(path, `${[...lines, '{"at":"","agent":"a","event":{"type":"turn_start"}}'].join("\n")}\n`);
  expect((await new LogReader(path).read()).map((line) => parseLogLine(line)?.event.type)).toEqual([
    ...lines.map(() => undefined),
    "turn_start",
  ]);
  for (const make of ["a FIFO", "a folder", "a link to itself", "a device"]) {
    await rm(path, { recursive: true });
    await ODD[make]?.(path);
    await expect(new LogReader(path).read()).rejects.toThrow(/is no file that can be read/);
  }
});
