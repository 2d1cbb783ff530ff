import { join } from "node:path";
import * as z from "zod";
import { readOddFile } from "../../../platform/files.ts";
import { namesIn } from "./revisions.ts";

const Mail = z.object({ body: z.object({ type: z.string() }) });

/** Messages in a box that wake its owner. A status update waits there until it is woken by something else. */
export async function unreadWork(folder: string): Promise<number> {
  const names = await namesIn(folder);
  const waking = await Promise.all(names.map(async (name) => isWaking((await readOddFile(join(folder, name))).text)));
  return waking.filter(Boolean).length;
}

/** What can't be read counts until its reader has set it aside. */
function isWaking(text: string | undefined): boolean {
  // Taken by its reader since the folder was listed.
  if (text === undefined) return false;
  try {
    const { body } = Mail.parse(JSON.parse(text));
    return body.type !== "status_update";
  } catch {
    return true;
  }
}
