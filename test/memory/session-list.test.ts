import { appendFile, mkdir, readdir, readFile, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findSession, latestSession } from "../../src/memory/find-session.ts";
import { forkSession } from "../../src/memory/session-fork.ts";
import { listSessions } from "../../src/memory/session-list.ts";
import { lockSession } from "../../src/memory/session-lock.ts";
import { oldSessions, readAge, removeSession } from "../../src/memory/session-prune.ts";
import { searchSession } from "../../src/memory/session-search.ts";
import type { SessionEntry } from "../../src/protocol/session.ts";
import { answer, at, calls, header, result, roundEnd, user, written } from "../support/session-entries.ts";
import { tempFolder } from "../support/temp.ts";

const later = (day: number, text: string): SessionEntry => ({
  ...answer(text),
  at: `2026-12-${String(day).padStart(2, "0")}T00:00:00.000Z`,
});

test("the list has id, name, first words, model, times and size of each session, the last used first", async () => {
  await using folder = await tempFolder();
  const instructions: SessionEntry = {
    type: "message",
    at,
    message: {
      role: "user",
      content: [
        { type: "text", text: "<system-reminder>rules</system-reminder>" },
        { type: "text", text: "fix\n the login" },
      ],
    },
  };
  await written(folder.path, "one", instructions, later(5, "done"));
  await written(folder.path, "two", user("second"), later(3, "done"), { type: "name", at, name: "my bug" }, later(9, "more"));
  expect(listSessions(folder.path)).toMatchObject([
    { id: "two", name: "my bug", firstPrompt: "second", lastAt: "2026-12-09T00:00:00.000Z", isRunning: false },
    { id: "one", firstPrompt: "fix the login", model: header.model, cwd: "/", at, lastAt: "2026-12-05T00:00:00.000Z" },
  ]);
});

test("the list counts the messages of the person, but for those that were gone back over", async () => {
  await using folder = await tempFolder();
  const turn = (text: string, number: number): SessionEntry => ({ ...user(text), turn: number }) as SessionEntry;
  await written(folder.path, "one", turn("a", 1), answer('"turn":9'), turn("b", 2), answer("c"));
  await written(folder.path, "two", turn("a", 1), answer("b"), turn("b", 2), { type: "rewind", at, history: [], turn: 2 });
  expect(
    listSessions(folder.path)
      .map(({ id, turns }) => [id, turns])
      .sort(),
  ).toEqual([
    ["one", 2],
    ["two", 1],
  ]);
});

test("a session is running as long as the process lives that has it open", async () => {
  await using folder = await tempFolder();
  const path = await written(folder.path, "one", user("go"));
  await written(folder.path, "two", user("go"));
  await symlink("4194304 x", join(folder.path, "two.lock"));
  using _lock = lockSession(path);
  expect(listSessions(folder.path).map(({ id, isRunning }) => [id, isRunning])).toEqual(
    expect.arrayContaining([
      ["one", true],
      ["two", false],
    ]),
  );
});

test("S-13: a first prompt of any size is listed, and one that is only an image by that word", async () => {
  await using folder = await tempFolder();
  await written(folder.path, "big", user("w ".repeat(200_000)));
  await written(folder.path, "image", {
    type: "message",
    at,
    message: { role: "user", content: [{ type: "image", mediaType: "image/png", data: "A".repeat(300_000) }] },
  });
  const sessions = listSessions(folder.path);
  expect(sessions.find(({ id }) => id === "big")?.firstPrompt).toHaveLength(200);
  expect(sessions.find(({ id }) => id === "image")?.firstPrompt).toBe("[image]");
});

test("a name is found however much was written after it", async () => {
  await using folder = await tempFolder();
  const much = Array.from({ length: 60 }, (_, index) => answer(`${index} ${"x".repeat(9_000)}`));
  await written(folder.path, "one", user("go"), { type: "name", at, name: "kept" }, ...much);
  expect(listSessions(folder.path)[0]?.name).toBe("kept");
});

test("S-08: two hundred large sessions are listed from their heads and tails", async () => {
  await using folder = await tempFolder();
  const large = { ...header, system: "You. ".repeat(10_000) };
  const text = `${JSON.stringify(large)}\n${JSON.stringify(user("go"))}\n${`${JSON.stringify(result("x", "y".repeat(100_000)))}\n`.repeat(10)}${JSON.stringify(later(2, "end"))}\n`;
  await Promise.all(Array.from({ length: 200 }, (_, index) => writeFile(join(folder.path, `s${index}.jsonl`), text)));
  const started = process.cpuUsage();
  expect(listSessions(folder.path)).toHaveLength(200);
  const { user: used, system } = process.cpuUsage(started);
  expect((used + system) / 1000).toBeLessThan(2_000);
});

test("what is no session is not listed, and the latest is the newest that is one", async () => {
  await using folder = await tempFolder();
  await written(folder.path, "good", user("go"));
  await writeFile(join(folder.path, "empty.jsonl"), "");
  await writeFile(join(folder.path, "array.jsonl"), "[1,2]");
  await mkdir(join(folder.path, "folder.jsonl"));
  await utimes(join(folder.path, "good.jsonl"), 1, 1);
  expect(listSessions(folder.path).map(({ id }) => id)).toEqual(["good"]);
  expect(latestSession(folder.path)).toBe("good");
  expect(listSessions(join(folder.path, "none"))).toEqual([]);
});

test("the beginning of an id is enough where no other begins so", async () => {
  await using folder = await tempFolder();
  await written(folder.path, "abc1", user("go"));
  await written(folder.path, "abc2", user("go"));
  await written(folder.path, "abc", user("go"));
  expect(findSession(folder.path, "abc1")).toBe("abc1");
  expect(findSession(folder.path, "abc")).toBe("abc");
  expect(() => findSession(folder.path, "ab")).toThrow("3 sessions");
  expect(() => findSession(folder.path, "")).toThrow("no session");
  expect(() => findSession(folder.path, "../abc")).toThrow("no session");
});

test("a search finds words, calls and results whatever their case, and not what the system added", async () => {
  await using folder = await tempFolder();
  const path = await written(
    folder.path,
    "one",
    user("<system-reminder>LIMIT</system-reminder>"),
    calls("a"),
    result("a", `${"z".repeat(200)} the Rate\nLimit is 5`),
    roundEnd(undefined, "mind the rate limit"),
    answer("ÄRGER mit dem Limit"),
  );
  expect([...searchSession(path, "limit")].map(({ who }) => who)).toEqual(["tool", "user", "assistant"]);
  expect([...searchSession(path, "ärger")]).toEqual([{ at, who: "assistant", text: "ÄRGER mit dem Limit" }]);
  expect([...searchSession(path, "rate\nlimit")][0]?.text).toMatch(/^…z+ the Rate Limit is 5$/);
});

test("the snapshots of a project go with its last session, its index with each", async () => {
  await using project = await tempFolder();
  const folder = join(project.path, "sessions");
  await mkdir(folder);
  const store = join(project.path, "checkpoints.git");
  await mkdir(store);
  for (const name of ["HEAD", "index-one", "index-one.modes.json", "index-two"]) await writeFile(join(store, name), "x");
  const [one, two] = [await written(folder, "one", user("go")), await written(folder, "two", user("go"))];
  removeSession(one);
  expect((await readdir(store)).sort()).toEqual(["HEAD", "index-two"]);
  removeSession(two);
  await expect(readdir(store)).rejects.toThrow("ENOENT");
});

test("old sessions go with their large results; one that is open stays", async () => {
  await using folder = await tempFolder();
  const old = await written(folder.path, "old", user("go"));
  const open = await written(folder.path, "open", user("go"));
  await written(folder.path, "new", later(30, "x"));
  await mkdir(join(folder.path, "old.results"));
  await writeFile(join(folder.path, "old.results", "a.txt"), "x");
  using _lock = lockSession(open);
  const found = oldSessions(folder.path, readAge("2w"), Date.parse("2026-12-31T00:00:00Z"));
  expect(found.map(({ id }) => id)).toEqual(["old"]);
  expect(removeSession(old)).toBe(true);
  expect(removeSession(open)).toBe(false);
  await expect(readFile(old)).rejects.toThrow("ENOENT");
  await expect(readFile(join(folder.path, "old.results", "a.txt"))).rejects.toThrow("ENOENT");
  expect(() => readAge("30")).toThrow("30d");
});

test("an old session stays as long as one that was forked from it, or from its fork: its large results lie there", async () => {
  await using folder = await tempFolder();
  const path = await written(folder.path, "grandparent", user("go"), later(1, "done"));
  const copy = forkSession(path, { cwd: "/" });
  const last = forkSession(join(folder.path, `${copy}.jsonl`), { cwd: "/" });
  await appendFile(join(folder.path, `${last}.jsonl`), `${JSON.stringify(later(20, "more"))}\n`);
  await written(folder.path, "alone", user("go"), later(1, "done"));
  const old = oldSessions(folder.path, readAge("10d"), Date.parse("2026-12-21T00:00:00.000Z"));
  expect(old.map(({ id }) => id)).toEqual(["alone"]);
});
