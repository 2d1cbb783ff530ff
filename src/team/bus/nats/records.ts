import type { KV } from "@nats-io/kv";
import type * as z from "zod";
import { RevisionConflict, UserError } from "../../../protocol/errors.ts";
import type { TeamTask } from "../../../protocol/team.ts";
import type { Revisions } from "../revisions.ts";
import { TeamTaskSchema } from "../schemas.ts";
import type { TaskRecords } from "../task-list.ts";
import { type BusClient, isConflict, persistently } from "./client.ts";
import type { StoredText, WatchedBucket } from "./watched-bucket.ts";

type RecordOptions<Value> = {
  client: BusClient;
  bucket: KV;
  /** Undefined where nothing stands. It sees all that was written before. */
  read: (key: string) => Promise<StoredText | undefined>;
  key: string;
  what: string;
  schema: z.ZodType<Value>;
};

/** One key of a bucket. The server's revision of the key decides between two who write at once. */
export function kvRevisions<Value extends { revision: number }>(options: RecordOptions<Value>): Revisions<Value> {
  const { client, bucket, key, what } = options;
  const stored = async () => {
    const found = await options.read(key);
    return found && { ...found, value: parsed(found.text, options) };
  };
  return {
    async latest() {
      return (await stored())?.value;
    },
    async add(value) {
      const text = JSON.stringify(value);
      // Only then can the same text that stands there be our own: two may want to write the same.
      let isAgain = false;
      await persistently(client, async () => {
        const before = await stored();
        if (isAgain && before?.text === text) return;
        const current = before?.value.revision ?? 0;
        if (current !== value.revision - 1) throw new RevisionConflict(what, current);
        isAgain = true;
        try {
          await (before ? bucket.update(key, text, before.revision) : bucket.create(key, text));
        } catch (error) {
          if (isConflict(error)) throw new RevisionConflict(what, (await stored())?.value.revision ?? 0);
          throw error;
        }
      });
    },
  };
}

/** By a question to the server for the one key. */
export function kvReader(client: BusClient, bucket: KV): (key: string) => Promise<StoredText | undefined> {
  return async (key) => {
    const entry = await persistently(client, () => bucket.get(key));
    return entry === null || entry.operation !== "PUT" ? undefined : { text: entry.string(), revision: entry.revision };
  };
}

/** In a bucket of their own, one key each. */
export function kvTaskRecords(client: BusClient, bucket: KV, watched: WatchedBucket): TaskRecords {
  const read = async (id: string) => (await watched.look()).get(id);
  const what = (id: string) => `Task ${id}`;
  const record = (id: string): Revisions<TeamTask> =>
    kvRevisions({ client, bucket, read, key: id, what: what(id), schema: TeamTaskSchema });
  const all = async () => {
    const tasks = [...(await watched.look())].map(([key, { text }]) =>
      parsed(text, { client, key, what: what(key), schema: TeamTaskSchema }),
    );
    return tasks.sort((a, b) => Number(a.id) - Number(b.id));
  };
  return { record, all, highestId: async () => Number((await all()).at(-1)?.id ?? 0) };
}

/** What stands under the keys that fit, in no order. */
export async function valuesUnder(client: BusClient, bucket: KV, keys: string): Promise<string[]> {
  return persistently(client, async () => {
    const texts: string[] = [];
    for await (const entry of await bucket.history({ key: keys })) if (entry.operation === "PUT") texts.push(entry.string());
    return texts;
  });
}

function parsed<Value>(
  text: string,
  { client, key, what, schema }: Pick<RecordOptions<Value>, "client" | "key" | "what" | "schema">,
): Value {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new UserError(`${what} on the bus at ${client.address} (${key}) can't be read. Another program may have written it.`, {
      cause: error,
    });
  }
}
