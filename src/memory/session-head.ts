import { statSync } from "node:fs";
import type { SessionHeader } from "../protocol/session.ts";
import { parseLine } from "./entry-line.ts";
import { sessionLines } from "./session-lines.ts";

/** A header that a crash cut off has another one behind it. */
const MAX_LINES = 10;
const HEAD_BYTES = 64 * 1024;

/** Undefined for a file that has none: another's, or a session whose first line never came to the disk. */
export function readHeader(path: string): SessionHeader | undefined {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return undefined;
  for (const { bytes, number } of sessionLines(path, 0, HEAD_BYTES)) {
    const entry = parseLine(bytes);
    if (entry?.type === "header") return entry;
    if (number === MAX_LINES) break;
  }
  return undefined;
}
