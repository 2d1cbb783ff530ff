import { randomUUID } from "node:crypto";
import { closeSync, existsSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { hasType, parseLine, toLine } from "./entry-line.ts";
import { lastReset, requireHeader } from "./load-session.ts";
import { readHeader } from "./session-head.ts";
import { sessionLines } from "./session-lines.ts";

/**
 * A copy of the conversation under a new id, beside its parent, which is only read. It sends what the parent would have sent. What a
 * compaction or rewind replaced stays behind. Gives the new id.
 */
export function forkSession(path: string, options: { cwd: string; name?: string | undefined }): string {
  const parent = requireHeader(path);
  const id = randomUUID();
  const at = new Date().toISOString();
  const target = join(dirname(path), `${id}.jsonl`);
  const aside = join(dirname(path), `.${id}.tmp`);
  const fd = openSync(aside, "wx", 0o600);
  try {
    writeSync(fd, toLine({ ...parent, id, at, cwd: options.cwd, parent: parent.id }));
    const reset = lastReset(path);
    for (const { bytes, start } of sessionLines(path)) {
      if (start < reset && !hasType(bytes, "tools_added")) continue;
      const entry = parseLine(bytes);
      if (entry && entry.type !== "header") writeSync(fd, `${bytes.toString("utf8")}\n`);
    }
    if (options.name !== undefined) writeSync(fd, toLine({ type: "name", at, name: options.name }));
    closeSync(fd);
    renameSync(aside, target);
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  }
  return id;
}

/** Where the large results lie that a fork's conversation names: with the sessions that it comes from. */
export function inheritedResults(path: string): string[] {
  const folders: string[] = [];
  const seen = new Set<string>();
  for (let parent = readHeader(path)?.parent; parent !== undefined && !seen.has(parent); ) {
    seen.add(parent);
    const results = join(dirname(path), `${parent}.results`);
    if (existsSync(results)) folders.push(results);
    parent = readHeader(join(dirname(path), `${parent}.jsonl`))?.parent;
  }
  return folders;
}
