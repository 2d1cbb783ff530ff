import { join } from "node:path";
import { createSession } from "../../src/memory/session-file.ts";
import { userText } from "../../src/protocol/message.ts";
import type { SessionEntry, SessionHeader } from "../../src/protocol/session.ts";

export const at = "2026-12-01T00:00:00.000Z";
export const header: SessionHeader = {
  type: "header",
  version: 1,
  id: "s1",
  cwd: "/",
  at,
  agent: "main",
  model: "p/m",
  system: "You.",
  tools: [],
};

export const user = (text: string): SessionEntry => ({ type: "message", at, message: userText(text) });
export const answer = (text: string): SessionEntry => ({
  type: "message",
  at,
  message: { role: "assistant", provider: "p", model: "m", content: [{ type: "text", text }] },
});
export const calls = (...ids: string[]): SessionEntry => ({
  type: "message",
  at,
  message: { role: "assistant", provider: "p", model: "m", content: ids.map((id) => ({ type: "tool_use", id, name: "Echo", input: {} })) },
});
export const result = (id: string, text = id): SessionEntry => ({
  type: "tool_result",
  at,
  result: { type: "tool_result", toolUseId: id, content: [{ type: "text", text }], isError: false },
});
export const roundEnd = (reminder?: string, steering?: string): SessionEntry => ({
  type: "round_end",
  at,
  ...(reminder ? { reminder } : {}),
  ...(steering ? { steering } : {}),
});

/** A session file with a header and these entries. */
export async function written(folder: string, id: string, ...entries: SessionEntry[]): Promise<string> {
  const path = join(folder, `${id}.jsonl`);
  const session = createSession(path, { ...header, id });
  for (const entry of entries) await session.append(entry);
  session.close();
  return path;
}
