import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { isErrno } from "../platform/files.ts";
import { UserError } from "../protocol/errors.ts";
import { readHeader } from "./session-head.ts";

const ENDING = ".jsonl";

/** Id of the session that is meant: its id, or a beginning of it that no other has. */
export function findSession(folder: string, wanted: string): string {
  const ids = sessionIds(folder);
  if (ids.includes(wanted)) return wanted;
  const found = wanted === "" ? [] : ids.filter((id) => id.startsWith(wanted));
  if (found.length === 1 && found[0] !== undefined) return found[0];
  if (found.length > 1)
    throw new UserError(`"${wanted}" is the beginning of ${found.length} sessions: ${found.slice(0, 5).join(", ")}. Give more of the id.`);
  throw new UserError(`There is no session "${wanted}" of this project. See: roocode sessions list`);
}

/** Id of the session that was written to last; what is no session does not count. */
export function latestSession(folder: string): string {
  const byAge = sessionIds(folder)
    .map((id) => ({ id, at: statSync(join(folder, `${id}${ENDING}`)).mtimeMs }))
    .sort((a, b) => b.at - a.at);
  const newest = byAge.find(({ id }) => readHeader(join(folder, `${id}${ENDING}`)) !== undefined);
  if (!newest) throw new UserError("There is no earlier session of this project to continue. Start one with: roocode");
  return newest.id;
}

function sessionIds(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(ENDING))
      .map((name) => name.slice(0, -ENDING.length));
  } catch (error) {
    if (isErrno(error, "ENOENT")) return [];
    throw error;
  }
}
