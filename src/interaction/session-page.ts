import { closeSync, openSync, writeSync } from "node:fs";
import { allEntries, requireHeader } from "../memory/load-session.ts";
import { parts } from "../memory/session-export/parts.ts";
import { summarize } from "../memory/session-list.ts";
import { isErrno } from "../platform/files.ts";
import { UserError } from "../protocol/errors.ts";

/** A conversation as a page, piece by piece. */
export async function exportPieces(path: string, format: "md" | "html"): Promise<Iterable<string>> {
  const header = requireHeader(path);
  const summary = summarize(path);
  const title = summary?.name ?? (summary?.firstPrompt || `Session ${header.id}`);
  return (await pageWriter(format))(title, header, parts(allEntries(path)));
}

async function pageWriter(format: "md" | "html") {
  if (format === "md") return (await import("../memory/session-export/markdown.ts")).toMarkdown;
  return (await import("../memory/session-export/html.ts")).toHtml;
}

/** For the owner only, and never over a file that is there. `mend` says how to name another one. */
export function writePieces(path: string, pieces: Iterable<string>, mend: string): void {
  let fd: number;
  try {
    fd = openSync(path, "wx", 0o600);
  } catch (error) {
    if (isErrno(error, "EEXIST")) throw new UserError(`${path} is there already; ${mend}.`);
    if (isErrno(error, "ENOENT", "ENOTDIR", "EACCES"))
      throw new UserError(`${path} can't be written: its folder is missing or closed to you.`);
    throw error;
  }
  try {
    for (const piece of pieces) writeSync(fd, piece);
  } finally {
    closeSync(fd);
  }
}
