import type { KV } from "@nats-io/kv";
import type { AgentState, Presence, ProcessIdentity } from "../../../protocol/team.ts";
import { corrected } from "../presence-truth.ts";
import { type PresenceRecord, PresenceSchema } from "../schemas.ts";
import { type BusClient, persistently } from "./client.ts";
import { ALL_PRESENCE, type BusNames, token } from "./names.ts";
import { valuesUnder } from "./records.ts";

/** A member of another machine that was not heard of for so long is unreachable. By the server's clock alone. */
export const ALIVE_MS = 30_000;
const BEAT_EVERY_MS = ALIVE_MS / 3;

type NatsPresenceOptions = { client: BusClient; state: KV; alive: KV; names: BusNames; process: ProcessIdentity; beatEveryMs?: number };

export function openNatsPresence(options: NatsPresenceOptions): Presence & Disposable {
  const { client, state: bucket, alive, names, process } = options;
  let written: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let self: string | undefined;

  /** A sign of life; one that does not arrive is followed by the next. */
  const sign = (name: string): Promise<unknown> => alive.put(token(name), process.host ?? "").catch(() => undefined);

  async function write(said: AgentState): Promise<void> {
    const key = names.presenceKey(said.name);
    await persistently(client, async () => {
      const entry = said.spent ? null : await bucket.get(key);
      const spent = said.spent ?? (entry?.operation === "PUT" ? recordIn(entry.string())?.spent : undefined);
      const record: PresenceRecord = { ...said, ...(spent ? { spent } : {}), process };
      await bucket.put(key, JSON.stringify(record));
    });
  }

  return {
    beat(said) {
      // The lead speaks for a member that starts; that is no sign of the member's own.
      if (said.status !== "starting") {
        void sign(said.name);
        self ??= said.name;
        timer ??= setInterval(() => void sign(self ?? said.name), options.beatEveryMs ?? BEAT_EVERY_MS).unref();
      }
      const beat = written.then(() => write(said));
      written = beat.catch(() => undefined);
      return beat;
    },
    async list() {
      const records = (await valuesUnder(client, bucket, ALL_PRESENCE)).flatMap((text) => recordIn(text) ?? []);
      const heardOf = new Set<string>();
      await persistently(client, async () => {
        for await (const key of await alive.keys()) heardOf.add(key);
      });
      return records
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map((record) => {
          const { process: _, ...told } =
            record.process.host === process.host ? corrected(record) : heldAgainst(record, heardOf.has(token(record.name)));
          return told;
        });
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** Of another machine nothing but its silence is known: it may be dead, or only cut off and at work. */
function heldAgainst(record: PresenceRecord, isHeardOf: boolean): PresenceRecord {
  if (isHeardOf || ["stopped", "failed", "dead", "starting"].includes(record.status)) return record;
  const said = record.detail ? `${record.status}: ${record.detail}` : record.status;
  return {
    ...record,
    status: "unreachable",
    detail: `no sign from ${record.process.host ?? "its machine"} for ${ALIVE_MS / 1000} s; last said: ${said}`,
  };
}

function recordIn(text: string): PresenceRecord | undefined {
  try {
    return PresenceSchema.parse(JSON.parse(text));
  } catch {
    // Written by another program: whoever it is about has said nothing that we can read.
    return undefined;
  }
}
