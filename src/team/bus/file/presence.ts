import { join } from "node:path";
import { readOddFile, writeAtomic } from "../../../platform/files.ts";
import type { AgentState, Presence, ProcessIdentity } from "../../../protocol/team.ts";
import { corrected } from "../presence-truth.ts";
import { type PresenceRecord, PresenceSchema } from "../schemas.ts";
import type { TeamLayout } from "./layout.ts";
import { namesIn } from "./revisions.ts";

export function openPresence(layout: TeamLayout, process: ProcessIdentity): Presence {
  let written: Promise<void> = Promise.resolve();
  const write = async (state: AgentState): Promise<void> => {
    const path = join(layout.presence, `${state.name}.json`);
    // Not from memory: the lead speaks for a member that starts, and the member has spent more since.
    const spent = state.spent ?? (await readRecord(path))?.spent;
    const record: PresenceRecord = { ...state, ...(spent ? { spent } : {}), process };
    await writeAtomic(path, `${JSON.stringify(record)}\n`);
  };
  return {
    beat(state) {
      const beat = written.then(() => write(state));
      written = beat.catch(() => undefined);
      return beat;
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
  const { text } = await readOddFile(path);
  if (text === undefined) return undefined;
  try {
    return PresenceSchema.parse(JSON.parse(text));
  } catch {
    // Somebody else's file: whoever it is about has said nothing that we can read.
    return undefined;
  }
}
