import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { isErrno } from "../platform/files.ts";
import type { Message } from "../protocol/message.ts";
import type { SessionEntry, SessionHeader } from "../protocol/session.ts";
import { hasType, parseLine } from "./entry-line.ts";
import { sessionLines } from "./session-lines.ts";
import { sessionOwner } from "./session-lock.ts";

export type SessionSummary = {
  id: string;
  path: string;
  name?: string;
  /** The person's first words, "[image]" where there are none. */
  firstPrompt: string;
  model: string;
  cwd: string;
  at: string;
  lastAt: string;
  bytes: number;
  /** Messages of the person; undefined where the last of them lies further back than was read. */
  turns?: number;
  parent?: string;
  isRunning: boolean;
};

const PROMPT_CHARACTERS = 200;
const HEAD_BYTES = 64 * 1024;
/** Header, perhaps a torn one before it, a name, a checkpoint, the first message. */
const HEAD_LINES = 20;
const TAIL_BYTES = 64 * 1024;

/** Sessions of a folder, the one that was used last first. Reads heads and tails; what is no session is not in it. */
export function listSessions(folder: string): SessionSummary[] {
  const names = namesIn(folder);
  const locked = new Set(names.flatMap((name) => /^(.+)\.lock(\.\d+)?$/.exec(name)?.[1] ?? []));
  return names
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => {
      const path = join(folder, name);
      const summary = summarize(path);
      return summary ? [{ ...summary, isRunning: locked.has(summary.id) && sessionOwner(path) !== undefined }] : [];
    })
    .sort((a, b) => (a.lastAt < b.lastAt ? 1 : -1));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isErrno(error, "ENOENT")) return [];
    throw error;
  }
}

export function summarize(path: string): Omit<SessionSummary, "isRunning"> | undefined {
  const file = statSync(path, { throwIfNoEntry: false });
  if (!file?.isFile()) return undefined;
  const { header, firstPrompt } = readHead(path);
  if (!header) return undefined;
  const tail = readTail(path, file.size);
  return {
    // Files are found by their names.
    id: basename(path, ".jsonl"),
    path,
    ...(tail.name === undefined ? {} : { name: tail.name }),
    ...(tail.turns === undefined ? {} : { turns: tail.turns }),
    firstPrompt,
    model: header.model,
    cwd: header.cwd,
    at: header.at,
    lastAt: tail.lastAt ?? file.mtime.toISOString(),
    bytes: file.size,
    ...(header.parent === undefined ? {} : { parent: header.parent }),
  };
}

/** The first prompt may be larger than what is read at once: lines are read whole. */
function readHead(path: string): { header: SessionHeader | undefined; firstPrompt: string } {
  let header: SessionHeader | undefined;
  for (const { bytes, number } of sessionLines(path, 0, HEAD_BYTES)) {
    if (number > HEAD_LINES) break;
    const entry = parseLine(bytes);
    if (entry?.type === "header") header = entry;
    const firstPrompt = entry ? promptOf(entry) : undefined;
    if (firstPrompt !== undefined) return { header, firstPrompt };
  }
  return { header, firstPrompt: "" };
}

function promptOf(entry: SessionEntry): string | undefined {
  if (entry.type === "message") return promptIn([entry.message]);
  // A fork begins with the history of its parent.
  if (entry.type === "compaction" || entry.type === "rewind") return promptIn(entry.history);
  return undefined;
}

function promptIn(messages: readonly Message[]): string | undefined {
  const first = messages.find((message) => message.role === "user");
  if (!first) return undefined;
  const words = first.content.flatMap((block) =>
    block.type === "text" && !block.text.startsWith("<system-reminder>") ? [block.text] : [],
  );
  const text = words.join(" ").replace(/\s+/g, " ").trim();
  if (text !== "") return [...text.slice(0, PROMPT_CHARACTERS * 2)].slice(0, PROMPT_CHARACTERS).join("");
  return first.content.some((block) => block.type === "image") ? "[image]" : "";
}

/** A name stands near the end: it is written again while the file grows. */
function readTail(path: string, size: number): { name?: string; lastAt?: string; turns?: number } {
  const start = Math.max(0, size - TAIL_BYTES);
  const bytes = Buffer.alloc(size - start);
  const fd = openSync(path, "r");
  try {
    readSync(fd, bytes, 0, bytes.length, start);
  } finally {
    closeSync(fd);
  }
  let name: string | undefined;
  let lastAt: string | undefined;
  let turns: number | undefined;
  for (let end = bytes.length; end > 0; ) {
    const newline = bytes.lastIndexOf(0x0a, end - 1);
    // What the reading cut in two is no line.
    if (newline < 0 && start > 0) break;
    const line = bytes.subarray(newline + 1, end);
    const mayCount = turns === undefined && line.includes('"turn":');
    const entry = lastAt === undefined || mayCount || hasType(line, "name") ? parseLine(line) : undefined;
    lastAt ??= entry?.at;
    if (mayCount && entry) turns = turnsAfter(entry);
    if (entry?.type === "name") name ??= entry.name;
    if (name !== undefined && turns !== undefined) break;
    end = newline;
  }
  // All of the file was read.
  if (start === 0) turns ??= 0;
  return {
    ...(turns === undefined ? {} : { turns }),
    ...(name === undefined ? {} : { name }),
    ...(lastAt === undefined ? {} : { lastAt }),
  };
}

/** How many messages of the person there are behind an entry that counts them. */
function turnsAfter(entry: SessionEntry): number | undefined {
  if (entry.type === "rewind") return entry.turn === undefined ? undefined : entry.turn - 1;
  return entry.type === "message" || entry.type === "checkpoint" ? entry.turn : undefined;
}
