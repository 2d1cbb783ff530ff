import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isRecord } from "../protocol/record.ts";
import { isAlive, processPlace, selfIdentity } from "./process.ts";

const PREFIX = "roocode-";
const OWNER = ".owner";
/** Folders for temporary files that this process has looked through. */
const SWEPT = new Set<string>();

/**
 * A folder of this process alone, below the one for temporary files; who makes it removes it. Those of processes that were killed, and so
 * could not, go with the first one that is made here.
 */
export function makeTempFolder(kind: string): string {
  const parent = tmpdir();
  if (!SWEPT.has(parent)) {
    SWEPT.add(parent);
    sweepTempFolders(parent);
  }
  const folder = mkdtempSync(join(parent, `${PREFIX}${kind}-`));
  writeFileSync(join(folder, OWNER), JSON.stringify({ ...selfIdentity(), place: processPlace() }), { mode: 0o600 });
  return folder;
}

/** Removes folders of this user whose process is gone. Gives their names. */
export function sweepTempFolders(parent: string): string[] {
  return namesIn(parent).filter((name) => {
    if (!name.startsWith(PREFIX) || !isLeft(join(parent, name))) return false;
    try {
      rmSync(join(parent, name), { recursive: true, force: true });
      return true;
    } catch {
      // Something in it is mounted, or another sweeps too.
      return false;
    }
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // One may be for writing only.
    return [];
  }
}

/** One without an owner's name is being made, or is somebody else's. */
function isLeft(folder: string): boolean {
  try {
    const state = lstatSync(folder);
    if (!state.isDirectory() || state.uid !== process.getuid?.()) return false;
    const owner: unknown = JSON.parse(readFileSync(join(folder, OWNER), "utf8"));
    if (!isRecord(owner) || typeof owner.pid !== "number" || typeof owner.startedAt !== "string") return false;
    return owner.place === processPlace() && !isAlive({ pid: owner.pid, startedAt: owner.startedAt });
  } catch {
    return false;
  }
}
