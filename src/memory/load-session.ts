import { statSync } from "node:fs";
import { UserError } from "../protocol/errors.ts";
import type { Message } from "../protocol/message.ts";
import { addUsage, NO_USAGE, type ToolSpec, type Usage } from "../protocol/model.ts";
import type { SessionEntry, SessionHeader } from "../protocol/session.ts";
import { hasType, parseLine } from "./entry-line.ts";
import { rebuildHistory } from "./repair.ts";
import { readHeader } from "./session-head.ts";
import { sessionLines } from "./session-lines.ts";

const MAX_LINES_NAMED = 10;

export type Checkpoint = Extract<SessionEntry, { type: "checkpoint" }>;

export type LoadedSession = {
  header: SessionHeader;
  history: Message[];
  /** What its next request names: the header's tools and those that were found later. */
  tools: ToolSpec[];
  /** Ids of all mail that the conversation holds: an envelope that comes again is skipped. */
  mail: Set<string>;
  /** Of all answers and summaries in the file, those before a compaction too. */
  usage: Usage;
  /** US dollars; absent where the price of an answer is unknown. */
  cost?: number;
  name?: string;
  /** How many messages of the person it holds. */
  turns: number;
  /** It was in plan mode at its end. */
  isPlanning: boolean;
  /** Snapshots of the files, those of turns that were gone back over left out. */
  checkpoints: Checkpoint[];
  /** Time of the last entry. */
  lastAt: string;
  /** What had to be left out or answered, in words for the person. */
  notes: string[];
};

/**
 * What a session's file holds, and the entries that have to be appended to it so that the next load finds nothing to mend. Reads
 * line by line: only what follows the last compaction or rewind is kept.
 */
export function loadSession(path: string): { loaded: LoadedSession; added: SessionEntry[] } {
  const header = requireHeader(path);
  const reset = lastReset(path);
  const totals = new Totals(header);
  const damaged: number[] = [];
  const rebuilt = rebuildHistory(entries(path, reset, totals, damaged));
  const { tools, mail, usage, cost, name, turns, isPlanning, checkpoints, lastAt } = totals;
  return {
    loaded: {
      header,
      history: rebuilt.history,
      tools,
      mail,
      usage,
      ...(cost === undefined ? {} : { cost }),
      ...(name === undefined ? {} : { name }),
      turns,
      isPlanning,
      checkpoints,
      lastAt,
      notes: [...damagedNote(damaged), ...rebuilt.notes],
    },
    added: rebuilt.added,
  };
}

/** Every entry of the file in order, the damaged ones left out. */
export function* allEntries(path: string): Generator<SessionEntry> {
  for (const { bytes } of sessionLines(path)) {
    const entry = parseLine(bytes);
    if (entry) yield entry;
  }
}

/** Throws a UserError for what is no session file. */
export function requireHeader(path: string): SessionHeader {
  const found = statSync(path);
  const header = found.isFile() ? readHeader(path) : undefined;
  if (header) return header;
  const what = found.isDirectory() ? "is a folder" : found.size === 0 ? "is empty" : "does not begin as a session does";
  throw new UserError(`${path} ${what}, so it is no session to go on with. It was left as it is.`);
}

/** Where the last line that replaces all before it begins; 0 without one. */
export function lastReset(path: string): number {
  const starts: number[] = [];
  for (const { bytes, start } of sessionLines(path)) if (hasType(bytes, "compaction", "rewind")) starts.push(start);
  for (let start = starts.pop(); start !== undefined; start = starts.pop()) {
    for (const { bytes } of sessionLines(path, start)) {
      if (parseLine(bytes)) return start;
      break;
    }
  }
  return 0;
}

/** What the history is made of. Of the lines before `reset` only the totals are taken. */
function* entries(path: string, reset: number, totals: Totals, damaged: number[]): Generator<SessionEntry> {
  for (const { bytes, start, number } of sessionLines(path)) {
    const isOld = start < reset;
    if (bytes.length === 0 || (isOld && !mayCount(bytes))) continue;
    const entry = parseLine(bytes);
    if (entry) totals.take(entry);
    else if (!isOld && bytes.toString("latin1").trim() !== "") damaged.push(number);
    if (entry && !isOld) yield entry;
  }
}

/** Results are most of a file and say nothing that counts. */
function mayCount(line: Buffer): boolean {
  if (hasType(line, "name", "checkpoint", "mode", "tools_added")) return true;
  return !hasType(line, "tool_result") && ['"usage":', '"mail":', '"turn":'].some((key) => line.includes(key));
}

class Totals {
  readonly tools: ToolSpec[];
  readonly mail = new Set<string>();
  usage: Usage = NO_USAGE;
  cost: number | undefined = 0;
  name: string | undefined;
  turns = 0;
  isPlanning = false;
  checkpoints: Checkpoint[] = [];
  lastAt: string;

  constructor(header: SessionHeader) {
    this.lastAt = header.at;
    this.tools = [...header.tools];
  }

  take(entry: SessionEntry): void {
    if (typeof entry.at === "string") this.lastAt = entry.at;
    if (entry.type === "tools_added") this.tools.push(...entry.tools.filter(({ name }) => !this.tools.some((one) => one.name === name)));
    if (entry.type === "name") this.name = entry.name;
    if (entry.type === "mode") this.isPlanning = entry.mode === "plan";
    if (entry.type === "checkpoint") {
      this.checkpoints.push(entry);
      // A fork of a compacted session has them without the message of their turn.
      this.turns = Math.max(this.turns, entry.turn);
    }
    if (entry.type === "message" && entry.turn !== undefined) this.turns = entry.turn;
    if (entry.type === "rewind" && entry.turn !== undefined) {
      const { turn } = entry;
      this.turns = turn - 1;
      this.checkpoints = this.checkpoints.filter((checkpoint) => checkpoint.turn < turn);
    }
    if ("mail" in entry && entry.mail) for (const id of entry.mail) this.mail.add(id);
    if (!("usage" in entry) || !entry.usage) return;
    this.usage = addUsage(this.usage, entry.usage);
    this.cost = this.cost === undefined || entry.cost === undefined ? undefined : this.cost + entry.cost;
  }
}

function damagedNote(lines: readonly number[]): string[] {
  if (lines.length === 0) return [];
  const named = lines.slice(0, MAX_LINES_NAMED).join(", ");
  const more = lines.length > MAX_LINES_NAMED ? ", …" : "";
  return [`Skipped ${lines.length === 1 ? "a damaged line" : `${lines.length} damaged lines`} of the session (line ${named}${more}).`];
}
