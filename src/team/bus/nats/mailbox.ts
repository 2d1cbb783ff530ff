import { AckPolicy, type Consumer, type ConsumerMessages, DeliverPolicy, type JsMsg } from "@nats-io/jetstream";
import { UserError } from "../../../protocol/errors.ts";
import type { Envelope, Mailbox } from "../../../protocol/team.ts";
import type { BadMail } from "../bad-mail.ts";
import { inSenderOrder } from "../mail-order.ts";
import { persistently } from "./client.ts";
import { type NatsSender, openNatsPost } from "./post.ts";
import { readMail } from "./read-mail.ts";

type NatsMailboxOptions = NatsSender & { onBad: (bad: BadMail) => void };

/**
 * What is not acknowledged is delivered again when the member starts anew or the link comes back: the consumer is then made
 * anew. In between nothing is: what the process holds, it holds.
 */
const ACK_WAIT_MS = 24 * 3_600_000;
/** So long the server may take to hand over what it says is there. */
const HAND_OVER_MS = 5_000;
const CONSUMER_NOT_FOUND = 10014;

type Held = { envelope: Envelope; message: JsMsg };

export function openNatsMailbox(options: NatsMailboxOptions): Mailbox & AsyncDisposable {
  const { client, names, self, onBad } = options;
  /** By stream sequence, which is their order. */
  const held = new Map<number, Held>();
  const shown = new Set<string>();
  /** Messages that this consumer was given since it was made, bad ones too. */
  let received = 0;
  const waiting = new Set<() => void>();
  const wakeAll = () => {
    for (const wake of [...waiting]) wake();
  };
  let reading: Promise<Consumer> | undefined;
  let messages: ConsumerMessages | undefined;
  void watchLink();
  let isClosed = false;
  /** Another process of this name reads the box now. */
  let isReplaced = false;

  /** Begins to read with the first look: whoever only sends takes no mail away from the member. */
  const consumer = (): Promise<Consumer> => {
    reading ??= begin().catch((error: unknown) => {
      reading = undefined;
      throw error;
    });
    return reading;
  };

  async function begin(): Promise<Consumer> {
    const name = names.consumer(self.name);
    const made = await persistently(client, async () => {
      const before = await client.manager.consumers.info(names.mailStream, name).catch(ignoreMissing);
      // Who was cut off, and replaced meanwhile, must not take the box back when its link is there again.
      if (before && Number(before.config.description) > self.epoch) {
        isReplaced = true;
        refuseReplaced();
      }
      if (before) await client.manager.consumers.delete(names.mailStream, name).catch(ignoreMissing);
      await client.manager.consumers.add(names.mailStream, {
        durable_name: name,
        description: String(self.epoch),
        filter_subject: names.mailFilter(self.name),
        ack_policy: AckPolicy.Explicit,
        deliver_policy: DeliverPolicy.All,
        ack_wait: ACK_WAIT_MS * 1_000_000,
        max_ack_pending: -1,
      });
      return client.stream.consumers.get(names.mailStream, name);
    });
    held.clear();
    received = 0;
    const stream = await made.consume();
    messages = stream;
    void take(stream);
    void watch(stream);
    return made;
  }

  /** What was on its way when the link broke is lost for this consumer: one made anew gets all of it. */
  async function watchLink(): Promise<void> {
    for await (const { type } of client.connection.status()) {
      if (type !== "reconnect" || reading === undefined || isReplaced) continue;
      messages?.stop();
      reading = undefined;
      // Whoever waits is told what went wrong by its next look.
      await consumer().catch(() => undefined);
      wakeAll();
    }
  }

  async function take(stream: ConsumerMessages): Promise<void> {
    for await (const message of stream) await hold(message);
  }

  async function hold(message: JsMsg): Promise<void> {
    received += 1;
    const read = readMail(message, self.name, names);
    if ("envelope" in read) held.set(message.seq, { envelope: read.envelope, message });
    else {
      onBad({ file: `message ${message.seq} of ${names.mailStream}`, reason: read.bad, ...(read.from ? { from: read.from } : {}) });
      message.term(read.bad);
    }
    wakeAll();
  }

  async function watch(stream: ConsumerMessages): Promise<void> {
    for await (const { type } of stream.status()) {
      if (type !== "consumer_deleted" && type !== "consumer_not_found") continue;
      isReplaced = !isClosed;
      stream.stop();
      wakeAll();
    }
  }

  /** All that lay in the box when it was asked for is held, however far the delivery was. */
  async function caughtUp(): Promise<void> {
    const source = await consumer();
    refuseReplaced();
    const { num_pending, delivered } = await persistently(client, () => source.info());
    const until = Date.now() + HAND_OVER_MS;
    while (received < num_pending + delivered.consumer_seq && Date.now() < until && !isReplaced) await woken(undefined, 200);
  }

  function refuseReplaced(): void {
    if (isReplaced) throw new UserError(`Another process reads the mail of ${self.name} now; this one gets none.`);
  }

  async function woken(signal?: AbortSignal, withinMs?: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = () => {
        waiting.delete(done);
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = withinMs === undefined ? undefined : setTimeout(done, withinMs);
      waiting.add(done);
      signal?.addEventListener("abort", done, { once: true });
    });
  }

  return {
    send: openNatsPost(options),
    async unread() {
      await caughtUp();
      const byTime = [...held].sort(([a], [b]) => a - b).map(([, { envelope }]) => envelope);
      for (const { id } of byTime) shown.add(id);
      return structuredClone(inSenderOrder(byTime));
    },
    async acknowledge(ids) {
      const wanted = new Set(ids);
      const found = () => [...held].filter(([, { envelope }]) => wanted.has(envelope.id));
      // After a restart the ids come from the transcript, before anything was read here.
      if (found().length < wanted.size) await caughtUp();
      for (const [seq, { envelope, message }] of found()) {
        await persistently(client, () => message.ackAck());
        held.delete(seq);
        shown.delete(envelope.id);
      }
    },
    async waitingFor(name) {
      const count = async (filter: string) => {
        const { state } = await client.manager.streams.info(names.mailStream, { subjects_filter: filter });
        return Object.values(state.subjects ?? {}).reduce((sum, one) => sum + one, 0);
      };
      return persistently(client, async () => {
        const all = await count(names.mailFilter(name));
        if (all === 0) return { count: 0, waking: 0 };
        const waking = await count(names.mailFilter(name, "wake"));
        const oldest = await client.manager.direct.getMessage(names.mailStream, { seq: 1, next_by_subj: names.mailFilter(name) });
        const at = oldest === null ? undefined : sentAt(oldest.string());
        return { count: all, waking, ...(at === undefined ? {} : { oldestAt: at }) };
      });
    },
    async arrival(signal) {
      signal.throwIfAborted();
      await consumer();
      for (;;) {
        signal.throwIfAborted();
        refuseReplaced();
        if ([...held.values()].some(({ envelope }) => !shown.has(envelope.id))) return;
        await woken(signal);
      }
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      messages?.stop();
    },
  };
}

function sentAt(text: string): string | undefined {
  const at: unknown = JSON.parse(text).at;
  return typeof at === "string" ? at : undefined;
}

function ignoreMissing(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === CONSUMER_NOT_FOUND) return undefined;
  throw error;
}
