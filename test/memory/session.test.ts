import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createSession, openSession } from "../../src/memory/session-file.ts";
import { type ContentBlock, userText } from "../../src/protocol/message.ts";
import type { SessionEntry, SessionHeader } from "../../src/protocol/session.ts";
import { tempFolder } from "../support/temp.ts";

const at = "2026-12-01T00:00:00.000Z";
const header: SessionHeader = { type: "header", version: 1, id: "s1", cwd: "/", at, agent: "main", model: "m", system: "You.", tools: [] };
const user = (text: string): SessionEntry => ({ type: "message", at, message: userText(text) });
const calls = (...ids: string[]): SessionEntry => ({
  type: "message",
  at,
  message: { role: "assistant", provider: "p", model: "m", content: ids.map((id) => ({ type: "tool_use", id, name: "Echo", input: {} })) },
});
const result = (id: string, text = id): SessionEntry => ({
  type: "tool_result",
  at,
  result: { type: "tool_result", toolUseId: id, content: [{ type: "text", text }], isError: false },
});
const roundEnd = (reminder?: string): SessionEntry => ({ type: "round_end", at, ...(reminder ? { reminder } : {}) });

async function written(folder: string, ...entries: SessionEntry[]): Promise<string> {
  const path = join(folder, "s1.jsonl");
  const session = createSession(path, header);
  for (const entry of entries) await session.append(entry);
  session.close();
  return path;
}

describe("a session that is loaded again", () => {
  test("folds results that ended out of order into one message in the order of the calls, with the reminder in the last", async () => {
    await using folder = await tempFolder();
    const path = await written(folder.path, user("go"), calls("a", "b"), result("b"), result("a"), roundEnd("mail"));
    const { loaded } = await openSession(path);
    expect(loaded.history.at(-1)?.content).toMatchObject([
      { toolUseId: "a" },
      { toolUseId: "b", content: [{ text: "b" }, { text: "mail" }] },
    ]);
  });

  test("answers the open calls of its last round with an honest error, once", async () => {
    await using folder = await tempFolder();
    const path = await written(folder.path, user("go"), calls("a", "b"), result("a"));
    const first = await openSession(path);
    first.session.close();
    const second = await openSession(path);
    second.session.close();
    expect(second.loaded.history).toEqual(first.loaded.history);
    expect(first.loaded.history.at(-1)?.content).toMatchObject([
      { toolUseId: "a", isError: false },
      { toolUseId: "b", isError: true },
    ]);
    expect(second.loaded.notes).toEqual([]);
  });

  test("skips a line that a crash cut off and keeps what is appended after it", async () => {
    await using folder = await tempFolder();
    const path = await written(folder.path, user("one"));
    await appendFile(path, '{"type":"message","at":"2026');
    const { session, loaded } = await openSession(path);
    await session.append({
      type: "message",
      at,
      message: { role: "assistant", provider: "p", model: "m", content: [{ type: "text", text: "two" }] },
    });
    session.close();
    expect(loaded.notes).toHaveLength(1);
    expect((await openSession(path)).loaded.history.map((message) => message.role)).toEqual(["user", "assistant"]);
  });

  test("cuts a round whose calls have no results in the middle, and names the cut", async () => {
    await using folder = await tempFolder();
    const path = await written(folder.path, user("one"), calls("a"), user("two"));
    const { loaded } = await openSession(path);
    expect(loaded.history.map((message) => message.role)).toEqual(["user", "user"]);
    expect(loaded.notes[0]).toContain("Echo");
  });

  test("killed at any byte it loads, with at most the torn line lost", async () => {
    await using folder = await tempFolder();
    const path = await written(folder.path, user("go"), calls("a", "b"), result("b"), result("a"), roundEnd(), user("äöü 重构"));
    const bytes = await readFile(path);
    const headerEnd = bytes.indexOf(0x0a) + 1;
    for (let end = headerEnd; end <= bytes.length; end += 7) {
      const cut = join(folder.path, `cut-${end}.jsonl`);
      await writeFile(cut, bytes.subarray(0, end));
      const { session, loaded } = await openSession(cut);
      session.close();
      const open = loaded.history
        .flatMap((message): readonly ContentBlock[] => message.content)
        .filter((block) => block.type === "tool_use").length;
      const answered = loaded.history
        .flatMap((message): readonly ContentBlock[] => message.content)
        .filter((block) => block.type === "tool_result").length;
      expect(answered).toBe(open);
    }
  });

  test("knows the ids of the mail that it holds", async () => {
    await using folder = await tempFolder();
    const path = await written(folder.path, { ...user("go"), mail: ["a.1.1"] } as SessionEntry, calls("a"), result("a"), {
      type: "round_end",
      at,
      mail: ["b.1.2"],
    });
    expect([...(await openSession(path)).loaded.mail]).toEqual(["a.1.1", "b.1.2"]);
  });
});
