import { closeSync, fstatSync, mkdirSync, openSync, readSync, writeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import * as z from "zod";
import { readTextOrUndefined } from "../platform/files.ts";
import type { Message } from "../protocol/message.ts";
import type { Session, SessionEntry, SessionHeader } from "../protocol/session.ts";
import { rebuildHistory } from "./repair.ts";

const SHAPES = new Set(["header", "message", "tool_result", "round_end", "compaction"]);
const EntrySchema = z.looseObject({ type: z.string().refine((type) => SHAPES.has(type)) });

export type LoadedSession = {
  header: SessionHeader;
  history: Message[];
  /** Ids of all mail that the conversation holds: an envelope that comes again is skipped. */
  mail: Set<string>;
  /** What had to be left out or answered, in words for the person. */
  notes: string[];
};

/** A new session: its header is the file's first line. */
export function createSession(path: string, header: SessionHeader): SessionFile {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const session = new SessionFile(path, header);
  session.write(header);
  return session;
}

/**
 * Opens a session that exists. Lines that are damaged are skipped and reported; calls that the last process left open get an
 * honest error result, which is written to the file, so that the next load finds nothing to mend.
 */
export async function openSession(path: string): Promise<{ session: SessionFile; loaded: LoadedSession }> {
  const { entries, notes } = parseEntries(await readFile(path, "utf8"));
  const header = entries.find((entry) => entry.type === "header");
  if (!header) throw new Error(`${path} has no header line; it is no session file.`);
  const rebuilt = rebuildHistory(entries);
  const session = new SessionFile(path, header);
  for (const entry of rebuilt.added) session.write(entry);
  const mail = new Set(entries.flatMap((entry) => ("mail" in entry && entry.mail ? entry.mail : [])));
  return { session, loaded: { header, history: rebuilt.history, mail, notes: [...notes, ...rebuilt.notes] } };
}

/** False as well for a session whose first line never came to the disk: there is nothing to go on with. */
export async function hasHeader(path: string): Promise<boolean> {
  const text = await readTextOrUndefined(path);
  return text !== undefined && parseEntries(text).entries.some((entry) => entry.type === "header");
}

function parseEntries(text: string): { entries: SessionEntry[]; notes: string[] } {
  const entries: SessionEntry[] = [];
  const damaged: number[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const entry = parseEntry(line);
    if (entry) entries.push(entry);
    else damaged.push(index + 1);
  }
  return { entries, notes: damaged.length > 0 ? [`Skipped damaged lines of the session: ${damaged.join(", ")}.`] : [] };
}

function parseEntry(line: string): SessionEntry | undefined {
  try {
    const parsed = EntrySchema.safeParse(JSON.parse(line));
    // Written by ourselves in this shape; rebuildHistory checks the order of messages and drops what does not fit.
    return parsed.success ? (parsed.data as unknown as SessionEntry) : undefined;
  } catch {
    return undefined;
  }
}

/** Whole lines, in the order of the calls, in the kernel's hands when `append` resolves: a killed process loses at most nothing. */
export class SessionFile implements Session {
  readonly path: string;
  readonly id: string;
  readonly header: SessionHeader;
  readonly #fd: number;

  constructor(path: string, header: SessionHeader) {
    this.path = path;
    this.header = header;
    this.id = header.id;
    this.#fd = openSync(path, "a+", 0o600);
    // A line that a crash cut off must not take the next one with it.
    if (!endsWithNewline(this.#fd)) writeSync(this.#fd, "\n");
  }

  write(entry: SessionEntry): void {
    writeSync(this.#fd, `${JSON.stringify(entry)}\n`);
  }

  async append(entry: SessionEntry): Promise<void> {
    this.write(entry);
  }

  async history(): Promise<Message[]> {
    return rebuildHistory(parseEntries(await readFile(this.path, "utf8")).entries).history;
  }

  close(): void {
    closeSync(this.#fd);
  }
}

function endsWithNewline(fd: number): boolean {
  const { size } = fstatSync(fd);
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  readSync(fd, last, 0, 1, size - 1);
  return last[0] === 0x0a;
}
