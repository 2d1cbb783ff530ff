import { join } from "node:path";
import { readTextOrUndefined, writeAtomic } from "../../../platform/files.ts";
import type { Presence, ProcessIdentity } from "../../../protocol/team.ts";
import { corrected } from "../presence-truth.ts";
import { type PresenceRecord, PresenceSchema } from "../schemas.ts";
import type { TeamLayout } from "./layout.ts";
import { namesIn } from "./revisions.ts";

export function openPresence(layout: TeamLayout, process: ProcessIdentity): Presence {
  return {
    async beat(state) {
      const record: PresenceRecord = { ...state, process };
      await writeAtomic(join(layout.presence, `${state.name}.json`), `${JSON.stringify(record)}\n`);
    },
    async list() {
      return (await readPresence(layout)).map(({ process: _, ...state }) => state);
    },
  };
}

export async function readPresence(layout: TeamLayout): Promise<PresenceRecord[]> {
  const names = (await namesIn(layout.presence)).filter((name) => name.endsWith(".json") && !name.startsWith("."));
  const records = await Promise.all(names.sort().map((name) => readRecord(join(layout.presence, name))));
  return records.flatMap((record) => (record ? [corrected(record)] : []));
}

async function readRecord(path: string): Promise<PresenceRecord | undefined> {
  const text = await readTextOrUndefined(path);
  if (text === undefined) return undefined;
  try {
    return PresenceSchema.parse(JSON.parse(text));
  } catch {
    // Somebody else's file: whoever it is about has said nothing that we can read.
    return undefined;
  }
}
