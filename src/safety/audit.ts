import { createHash, randomBytes } from "node:crypto";
import { constants, statSync } from "node:fs";
import { appendFile, open, rename } from "node:fs/promises";
import { appendLine, exists, isErrno, isUnwritable } from "../platform/files.ts";
import { withLock } from "../platform/lock.ts";
import type { PermissionDecision, PermissionMode, PermissionRequest } from "../protocol/permission.ts";
import { maskSecrets } from "./secrets.ts";

/** Where a decision was made: with it, it can be made again. */
export type AuditPlace = { session?: string | undefined; cwd: string; root: string; mode: PermissionMode };

export type AuditLine = {
  at: string;
  agent: string;
  session?: string;
  tool: string;
  kind: string;
  subject: string;
  /** Where they say more than the subject. */
  paths?: readonly string[];
  cwd: string;
  root: string;
  mode: string;
  decision: string;
  sticky: boolean;
  layer: string;
  rule?: string;
  /** File and line of the rule. */
  source?: string;
  reason: string;
  parts?: readonly string[];
  /** What a person was asked, or what nobody was there to be asked. */
  asked?: { layer: string; reason: string };
};
export type Recorder = (line: AuditLine) => Promise<void>;

const MOST_CHARACTERS = 10_000;

export function auditLine(
  request: PermissionRequest,
  asked: PermissionDecision,
  decision: PermissionDecision,
  place: AuditPlace,
  at: Date,
): AuditLine {
  const { subject, paths = [] } = request.access;
  return {
    at: at.toISOString(),
    agent: request.agent,
    ...(place.session === undefined ? {} : { session: place.session }),
    tool: request.tool,
    kind: request.access.kind,
    subject: shortened(maskSecrets(subject)),
    ...(paths.length === 0 || (paths.length === 1 && paths[0] === subject) ? {} : { paths: paths.slice(0, 100) }),
    cwd: place.cwd,
    root: place.root,
    mode: place.mode,
    decision: decision.decision,
    sticky: decision.sticky,
    layer: decision.layer,
    ...(decision.rule === undefined ? {} : { rule: maskSecrets(decision.rule) }),
    ...(decision.source === undefined ? {} : { source: decision.source }),
    reason: shortened(maskSecrets(decision.reason)),
    ...(decision.parts === undefined ? {} : { parts: decision.parts.slice(0, 20).map((part) => shortened(maskSecrets(part))) }),
    ...(asked.decision === "ask" ? { asked: { layer: asked.layer, reason: shortened(maskSecrets(asked.reason)) } } : {}),
  };
}

function shortened(text: string): string {
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)}… [${text.length} characters]`;
}

const NEWLINE = 10;
const MAX_WAITING = 10_000;
const MAX_BYTES = 10 * 1024 * 1024;
/** `audit.jsonl.1` is the youngest of the files that are full; older ones go. */
export const FULL_FILES = 4;

/**
 * Appends to a JSONL file that several processes share. Each writer is a chain of its own: its lines are numbered (`id` is chain and
 * number) and carry the hash of its line before, the first one that of the last line in the file. So a line that is changed, moved
 * or taken out shows, and no line waits for a lock. On a full disk lines wait for the next one: the work that they are about goes on.
 */
export function auditFile(path: string, maxBytes = MAX_BYTES): Recorder {
  const chain = randomBytes(4).toString("hex");
  const waiting: unknown[] = [];
  let number = 0;
  let previous: string | undefined;
  let last: Promise<void> = Promise.resolve();
  return (line) => {
    // One line that could not be written must not take the later ones with it.
    last = last
      .catch(() => undefined)
      .then(async () => {
        previous ??= await beginAt(path);
        number += 1;
        const chained = { id: `${chain}-${number}`, ...line, previous };
        previous = lineHash(JSON.stringify(chained));
        waiting.push(chained);
        if (waiting.length > MAX_WAITING) waiting.shift();
        await appendAll(path, waiting, maxBytes);
      });
    return last;
  };
}

export function lineHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

async function appendAll(path: string, waiting: unknown[], maxBytes: number): Promise<void> {
  try {
    await rotate(path, maxBytes);
    for (let line = waiting[0]; line !== undefined; line = waiting[0]) {
      appendLine(path, line);
      waiting.shift();
    }
  } catch (error) {
    if (!isUnwritable(error)) throw error;
  }
}

async function rotate(path: string, maxBytes: number): Promise<void> {
  if (sizeOf(path) < maxBytes) return;
  await withLock(path, async () => {
    // Another process may have been faster.
    if (sizeOf(path) < maxBytes) return;
    for (let number = FULL_FILES - 1; number > 0; number--)
      if (await exists(`${path}.${number}`)) await rename(`${path}.${number}`, `${path}.${number + 1}`);
    await rename(path, `${path}.1`);
  });
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Hash of the last line, "" where there is none. A line that a process could not end must not swallow the next one. */
async function beginAt(path: string): Promise<string> {
  try {
    // What is no file in its place is not waited for, and holds no line.
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = await file.stat();
    if (!found.isFile()) return "";
    const { size } = found;
    const length = Math.min(size, 256 * 1024);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
    if (length > 0 && buffer.at(-1) !== NEWLINE) await appendFile(path, "\n");
    const line = buffer.toString("utf8").trimEnd().split("\n").at(-1) ?? "";
    return line === "" ? "" : lineHash(line);
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR") || isUnwritable(error)) return "";
    throw error;
  }
}
