import type { KV, KvWatchEntry } from "@nats-io/kv";
import { type BusClient, persistently } from "./client.ts";

export type StoredText = { text: string; revision: number };

/** So long the server may take to hand over what it says is there. */
const HAND_OVER_MS = 5_000;

/**
 * A bucket of which a copy is kept here, by what the server tells of each change. Before each look one question to the server says how far
 * the copy must be, so a look sees all that was written before it, and costs the same for one key and for a thousand.
 */
export class WatchedBucket implements AsyncDisposable {
  readonly #client: BusClient;
  readonly #bucket: KV;
  readonly #stream: string;
  readonly #copy = new Map<string, StoredText>();
  readonly #waiting = new Set<() => void>();
  #watching: Promise<AsyncIterable<KvWatchEntry> & { stop(): void }> | undefined;
  #upTo = 0;

  constructor(client: BusClient, bucket: KV, name: string) {
    this.#client = client;
    this.#bucket = bucket;
    this.#stream = `KV_${name}`;
  }

  /** All that is in the bucket. */
  async look(): Promise<ReadonlyMap<string, StoredText>> {
    await this.#watch();
    const { state } = await persistently(this.#client, () => this.#client.manager.streams.info(this.#stream));
    const until = Date.now() + HAND_OVER_MS;
    while (this.#upTo < state.last_seq && Date.now() < until) await this.#change();
    // The watch was lost in some way that nobody told us of: a new one begins with all there is.
    if (this.#upTo < state.last_seq) {
      await this[Symbol.asyncDispose]();
      await this.#watch();
      while (this.#upTo < state.last_seq && Date.now() < until + HAND_OVER_MS) await this.#change();
    }
    if (this.#upTo < state.last_seq) throw new Error(`The bus at ${this.#client.address} does not hand over what is in ${this.#stream}.`);
    return this.#copy;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const watching = this.#watching;
    this.#watching = undefined;
    (await watching?.catch(() => undefined))?.stop();
  }

  async #watch(): Promise<void> {
    this.#watching ??= persistently(this.#client, () => this.#bucket.watch()).then((entries) => {
      void this.#follow(entries);
      return entries;
    });
    await this.#watching.catch((error: unknown) => {
      this.#watching = undefined;
      throw error;
    });
  }

  async #follow(entries: AsyncIterable<KvWatchEntry>): Promise<void> {
    for await (const entry of entries) {
      // A watch that begins anew tells what is known already.
      if (entry.revision > (this.#copy.get(entry.key)?.revision ?? 0)) {
        if (entry.operation === "PUT") this.#copy.set(entry.key, { text: entry.string(), revision: entry.revision });
        else this.#copy.delete(entry.key);
      }
      this.#upTo = Math.max(this.#upTo, entry.revision);
      for (const wake of [...this.#waiting]) wake();
    }
  }

  async #change(): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, 100);
      this.#waiting.add(done);
    });
  }
}
