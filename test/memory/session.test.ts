import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toLine } from "../../src/memory/entry-line.ts";
import { openSession } from "../../src/memory/session-file.ts";
import { forkSession } from "../../src/memory/session-fork.ts";
import { messageText, userText } from "../../src/protocol/message.ts";
import { NO_USAGE } from "../../src/protocol/model.ts";
import type { SessionEntry } from "../../src/protocol/session.ts";
import { conversations, errorsOf } from "../support/conversations.ts";
import { answer, at, calls, header, result, roundEnd, user, written } from "../support/session-entries.ts";
import { tempFolder } from "../support/temp.ts";

async function load(path: string) {
  const { session, loaded } = await openSession(path);
  session.close();
  return loaded;
}

describe("a session that is loaded again", () => {
  test("the next turn of a fork is not taken for one whose snapshots came with it; what is no snapshot's id is left out", async () => {
    await using folder = await tempFolder();
    const snapshot = (id: string): SessionEntry => ({ type: "checkpoint", at, id, turn: 5, phase: "before" });
    const path = await written(folder.path, "s1", snapshot("a".repeat(40)), snapshot("--output=/tmp/x"));
    const { turns, checkpoints, notes } = await load(path);
    expect({ turns, ids: checkpoints.map(({ id }) => id) }).toEqual({ turns: 5, ids: ["a".repeat(40)] });
    expect(notes).toEqual([expect.stringContaining("damaged line")]);
  });

  test.each([
    ["the answer's model", (entry: string) => entry.replace('"model":"m"', '"mXdel":"m"')],
    ["what it took", (entry: string) => entry.replace('"output":', '"oXtput":')],
    ["what it cost", (entry: string) => entry.replace('"cost":1', '"cost":"1"')],
    ["a turn's number", (entry: string) => entry.replace('"turn":1', '"turn":"1"')],
    ["its time", (entry: string) => entry.replace('"at":', '"aX":')],
  ])("that is damaged in one field (%s) loses that line alone", async (_what, damage) => {
    await using folder = await tempFolder();
    const counted = { ...answer("first"), usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }, cost: 1, turn: 1 };
    const path = await written(folder.path, "s1", user("one"), counted, user("two"));
    const lines = (await readFile(path, "utf8")).split("\n");
    await writeFile(path, lines.with(2, damage(lines[2] ?? "")).join("\n"));
    const { notes, cost, usage } = await load(path);
    expect(notes).toEqual(["Skipped a damaged line of the session (line 3)."]);
    expect({ cost, usage }).toEqual({ cost: 0, usage: NO_USAGE });
  });

  test("names the tools that were found, each once and in their order, behind a step back and in a fork of it too", async () => {
    await using folder = await tempFolder();
    const added = (...names: string[]): SessionEntry => ({
      type: "tools_added",
      at,
      tools: names.map((name) => ({ name, description: "", inputSchema: { type: "object" } })),
    });
    const back: SessionEntry = { type: "rewind", at, history: [] };
    const path = await written(folder.path, "s1", added("b", "a"), user("one"), back, added("a", "c"), user("two"));
    const names = async (file: string) => (await load(file)).tools.map(({ name }) => name);
    expect(await names(path)).toEqual(["b", "a", "c"]);
    const fork = forkSession(path, { cwd: "/" });
    expect(await names(join(folder.path, `${fork}.jsonl`))).toEqual(["b", "a", "c"]);
    expect((await load(path)).header.tools).toEqual([]);
  });

  test("whose tools were damaged is no session to go on with, and is left as it was", async () => {
    await using folder = await tempFolder();
    const path = await written(folder.path, "s1", user("one"));
    const text = (await readFile(path, "utf8")).replace('"tools":[]', '"tools":[{"name":"Bash","descriXtion":"","inputSchema":{}}]');
    await writeFile(path, text);
    await expect(load(path)).rejects.toThrow("does not begin as a session does");
    expect(await readFile(path, "utf8")).toBe(text);
  });

  test("folds results that ended out of order into one message in the order of the calls, with the reminder in the last", async () => {
    await using folder = await tempFolder();
    const path = await written(folder.path, "s1", user("go"), calls("a", "b"), result("b"), result("a"), roundEnd("mail", "and tests"));
    expect((await load(path)).history.at(-1)?.content).toMatchObject([
      { toolUseId: "a" },
      { toolUseId: "b", content: [{ text: "b" }, { text: "mail" }] },
      { type: "text", text: "and tests" },
    ]);
  });

  test("answers the open calls of its last round with an honest error, once", async () => {
    await using folder = await tempFolder();
    const path = await written(folder.path, "s1", user("go"), calls("a", "b"), result("a"));
    const first = await load(path);
    const second = await load(path);
    expect(second.history).toEqual(first.history);
    expect(first.history.at(-1)?.content).toMatchObject([
      { toolUseId: "a", isError: false },
      { toolUseId: "b", isError: true },
    ]);
    expect(first.notes).toEqual([expect.stringContaining("Echo")]);
    expect(second.notes).toEqual([]);
  });

  test("cuts a round whose calls have no results in the middle, and tells person and model which, once", async () => {
    await using folder = await tempFolder();
    const path = await written(folder.path, "s1", user("one"), calls("a"), user("two"), answer("done"));
    const first = await load(path);
    expect(first.history.map((message) => message.role)).toEqual(["user", "assistant", "user", "assistant", "user"]);
    expect(first.notes[0]).toContain("Echo");
    expect(JSON.stringify(first.history.at(-1))).toContain("Echo");
    const second = await load(path);
    expect(second).toMatchObject({ history: first.history, notes: [] });
  });

  test("whose record of a message was damaged keeps what stands around it", async () => {
    await using folder = await tempFolder();
    const path = await written(
      folder.path,
      "s1",
      user("one"),
      answer("first"),
      user("two"),
      answer("second"),
      user("three"),
      answer("third"),
    );
    const lines = (await readFile(path, "utf8")).split("\n");
    await writeFile(path, lines.with(3, "\u0000\u0000").with(6, '{"type":"message","message":7}').join("\n"));
    const { history, notes } = await load(path);
    expect(history.map((message) => message.role)).toEqual(["user", "assistant", "user", "assistant", "user"]);
    expect(history.map(messageText)).toMatchObject(["one", "first", expect.stringContaining("damaged"), "second", "three"]);
    expect(notes).toEqual(["Skipped 2 damaged lines of the session (line 4, 7)."]);
  });

  test("starts with the last compaction or rewind that is whole", async () => {
    await using folder = await tempFolder();
    const summary = (text: string): SessionEntry => ({
      type: "compaction",
      at,
      history: [userText(text)],
      trigger: "auto",
      mode: "suffix",
      tokensBefore: 9,
      tokensAfter: 3,
      usage: { input: 5, output: 1, cacheRead: 0, cacheWrite: 0 },
      cost: 0.5,
    });
    const spoken = { ...answer("one"), usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }, cost: 0.25 } as SessionEntry;
    const path = await written(folder.path, "s1", user("zero"), spoken, summary("S1"), answer("two"));
    await appendFile(path, '{"type":"rewind","at":"x","history":[{"role":"us\n');
    const loaded = await load(path);
    expect(loaded.history.map(messageText)).toEqual(["S1", "two"]);
    expect(loaded).toMatchObject({ usage: { input: 6, output: 2 }, cost: 0.75, notes: [expect.stringContaining("line 6")] });
    await appendFile(path, `${JSON.stringify({ type: "rewind", at, history: [userText("back")] })}\n`);
    expect((await load(path)).history.map(messageText)).toEqual(["back"]);
  });

  test("knows the ids of the mail that it holds, its last name and when it was used last", async () => {
    await using folder = await tempFolder();
    const path = await written(
      folder.path,
      "s1",
      { ...user("go"), mail: ["a.1.1"] } as SessionEntry,
      { type: "name", at, name: "old" },
      calls("a"),
      result("a"),
      { type: "round_end", at, mail: ["b.1.2"] },
      { type: "rewind", at, history: [userText("x")] },
      { type: "name", at: "2026-12-02T00:00:00.000Z", name: "new" },
    );
    const loaded = await load(path);
    expect([...loaded.mail]).toEqual(["a.1.1", "b.1.2"]);
    expect(loaded).toMatchObject({ name: "new", lastAt: "2026-12-02T00:00:00.000Z" });
  });
});

test("S-01: a session whose last record was cut off loads all whole ones, says so in one line, and goes on in a new line", async () => {
  await using folder = await tempFolder();
  const turns = Array.from({ length: 50 }, (_, index) => [user(`question ${index}`), answer(`answer ${index}`)]).flat();
  const path = await written(folder.path, "s1", ...turns);
  const bytes = await readFile(path);
  await writeFile(path, bytes.subarray(0, bytes.length - 20));
  const { session, loaded } = await openSession(path);
  await session.append(answer("again"));
  session.close();
  expect(loaded.history).toHaveLength(99);
  expect(loaded.notes).toHaveLength(1);
  expect((await load(path)).history.at(-1)).toMatchObject({ content: [{ text: "again" }] });
});

test("I10: killed at any byte a session loads, is legal, and has lost at most the torn line", async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, "s1.jsonl");
  await fc.assert(
    fc.asyncProperty(conversations, fc.double({ min: 0, max: 1, noNaN: true }), async ({ entries }, share) => {
      const size = Buffer.byteLength(toLine(header));
      const bytes = Buffer.from([header, ...entries].map(toLine).join(""));
      const end = size + Math.floor((bytes.length - size) * share);
      await writeFile(path, bytes.subarray(0, end));
      const whole = bytes.subarray(0, end).toString("utf8").split("\n").slice(1, -1).length;
      const { history } = await load(path);
      expect(errorsOf(history)).toEqual([]);
      const again = await load(path);
      expect(JSON.stringify(again.history)).toBe(JSON.stringify(history));
      const results = (list: typeof history) => JSON.stringify(list).match(/result of call_\d+/g) ?? [];
      const written = entries.slice(0, whole).filter((entry) => entry.type === "tool_result").length;
      expect(results(history).length).toBeGreaterThanOrEqual(written);
    }),
    { numRuns: 300 },
  );
});

test("R-09: separators of lines that Unicode knows are escaped in the file and come back as they were", async () => {
  await using folder = await tempFolder();
  const path = await written(folder.path, "s1", user("a\u2028b\u2029c"));
  expect(await readFile(path, "utf8")).not.toMatch(/[\u2028\u2029]/);
  expect((await load(path)).history.map(messageText)).toEqual(["a\u2028b\u2029c"]);
});

test("a line longer than what is read at once is one line", async () => {
  await using folder = await tempFolder();
  const path = await written(folder.path, "s1", user("x".repeat(3_000_000)), answer("ä".repeat(1_500_000)), user("end"));
  expect((await load(path)).history.map((message) => messageText(message).length)).toEqual([3_000_000, 1_500_000, 3]);
});
