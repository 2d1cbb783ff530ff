import type { KV } from "@nats-io/kv";
import type { Envelope, Roster, TeamMessage } from "../../../protocol/team.ts";
import { MAX_MESSAGE_BYTES } from "../bad-mail.ts";
import { isNews } from "../message-parts.ts";
import { CannotSend, checkRecipient } from "../recipients.ts";
import { envelopeId } from "../schemas.ts";
import { type BusClient, isConflict, persistently } from "./client.ts";
import type { BusNames } from "./names.ts";

export type NatsSender = {
  client: BusClient;
  names: BusNames;
  state: KV;
  roster: Roster;
  self: { name: string; epoch: number };
  clock: () => number;
};

/** Sends one after the other. A send that is tried again has the same id, by which the server drops the second. */
export function openNatsPost({
  client,
  names,
  state,
  roster,
  self,
  clock,
}: NatsSender): (to: string, body: TeamMessage) => Promise<string> {
  let epoch: number | undefined;
  let seq = 0;
  let queue: Promise<unknown> = Promise.resolve();

  async function sendOne(to: string, body: TeamMessage): Promise<string> {
    checkRecipient(self.name, to, await roster.read());
    epoch ??= await takeEpoch();
    seq += 1;
    const id = envelopeId(self.name, epoch, seq);
    const envelope: Envelope = { version: 1, id, epoch, seq, from: self.name, to, at: new Date(clock()).toISOString(), body };
    const text = JSON.stringify(envelope);
    if (Buffer.byteLength(text) > MAX_MESSAGE_BYTES) {
      throw new CannotSend(`The message is too long: ${Buffer.byteLength(text)} bytes, ${MAX_MESSAGE_BYTES} are allowed.`);
    }
    await persistently(client, () => client.stream.publish(names.mailSubject(to, self.name, isNews(body)), text, { msgID: id }));
    return id;
  }

  /** As on files: of two processes that call themselves the same, each has an epoch of its own, and no id is given out twice. */
  async function takeEpoch(): Promise<number> {
    for (let wanted = self.epoch; ; wanted++) {
      try {
        await persistently(client, () => state.create(names.epochKey(self.name, wanted), ""));
        return wanted;
      } catch (error) {
        // A try whose answer was lost may have taken it: the next is as good.
        if (!isConflict(error)) throw error;
      }
    }
  }

  return (to, body) => {
    const sent = queue.then(() => sendOne(to, body));
    queue = sent.catch(() => undefined);
    return sent;
  };
}
