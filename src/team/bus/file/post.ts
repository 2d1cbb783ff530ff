import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { isErrno, writeAtomic } from "../../../platform/files.ts";
import type { Envelope, Roster, TeamMessage } from "../../../protocol/team.ts";
import { MAX_MESSAGE_BYTES } from "../bad-mail.ts";
import { isNews, longText } from "../message-parts.ts";
import { CannotSend, checkRecipient } from "../recipients.ts";
import { envelopeId } from "../schemas.ts";
import { QUIET } from "./box.ts";
import { makeFolder, makeInbox, type TeamLayout } from "./layout.ts";
import { type MailKeys, sealed } from "./mail-keys.ts";

const PREVIEW_CHARACTERS = 2000;

export type Sender = {
  keys: MailKeys;
  layout: TeamLayout;
  roster: Roster;
  self: { name: string; epoch: number };
  clock: () => number;
};

/** Sends one after the other, so that a reader never sees the second without the first. */
export function openPost({ keys, layout, roster, self, clock }: Sender): (to: string, body: TeamMessage) => Promise<string> {
  let epoch: number | undefined;
  let seq = 0;
  let lastMs = 0;
  let queue: Promise<unknown> = Promise.resolve();
  const suffix = `${process.pid}-${randomBytes(4).toString("hex")}`;

  async function sendOne(to: string, body: TeamMessage): Promise<string> {
    checkRecipient(self.name, to, await roster.read());
    epoch ??= await takeEpoch(layout, self);
    seq += 1;
    lastMs = Math.max(clock(), lastMs + 1);
    const id = envelopeId(self.name, epoch, seq);
    const at = new Date(lastMs).toISOString();
    const key = await keys.own(self.name);
    const text = await fitted({ version: 1, id, epoch, seq, from: self.name, to, at, body }, key, layout);
    const name = `${String(lastMs).padStart(14, "0")}.${String(seq).padStart(8, "0")}.${suffix}${isNews(body) ? QUIET : ".json"}`;
    await makeInbox(layout, to);
    await deliver(join(layout.inbox(to, "tmp"), name), join(layout.inbox(to, "new"), name), text, mustSurvivePowerLoss(body));
    return id;
  }
  return (to, body) => {
    const sent = queue.then(() => sendOne(to, body));
    // The next send waits for this one's end, not for its success.
    queue = sent.catch(() => undefined);
    return sent;
  };
}

/**
 * An epoch that no process of this name has used: the given one, or the next that is free. Two processes that both call
 * themselves the lead (`team send` beside a running lead) so never give out one id twice.
 */
async function takeEpoch(layout: TeamLayout, self: Sender["self"]): Promise<number> {
  await makeFolder(layout.epochs);
  for (let epoch = self.epoch; ; epoch++) {
    try {
      const handle = await open(join(layout.epochs, `${self.name}.${epoch}`), "wx", 0o600);
      await handle.close();
      return epoch;
    } catch (error) {
      if (!isErrno(error, "EEXIST")) throw error;
    }
  }
}

/** The signed envelope's JSON; a text that makes it too long goes to a file whose path the message then holds. */
async function fitted(envelope: Envelope, key: string, layout: TeamLayout): Promise<string> {
  const whole = JSON.stringify(sealed(envelope, key));
  if (Buffer.byteLength(whole) <= MAX_MESSAGE_BYTES) return whole;
  const long = longText(envelope.body);
  const path = join(layout.artifacts, `${envelope.id}.txt`);
  const note = long ? `\n[… ${long.text.length} characters in all; the whole text is in ${path}]` : "";
  const shortened = long?.replace(`${long.text.slice(0, PREVIEW_CHARACTERS)}${note}`);
  const short = shortened && JSON.stringify(sealed({ ...envelope, body: shortened }, key));
  if (!long || !short || Buffer.byteLength(short) > MAX_MESSAGE_BYTES) {
    throw new CannotSend(`The message is too long: ${Buffer.byteLength(whole)} bytes, ${MAX_MESSAGE_BYTES} are allowed.`);
  }
  await writeAtomic(path, long.text);
  return short;
}

/** Whole in `new/` or not there at all. */
async function deliver(aside: string, target: string, text: string, sync: boolean): Promise<void> {
  try {
    const handle = await open(aside, "wx", 0o600);
    try {
      await handle.writeFile(text);
      if (sync) await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(aside, target);
  } catch (error) {
    await rm(aside, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** A flush costs milliseconds; only what nobody would say again is worth them. */
function mustSurvivePowerLoss(body: TeamMessage): boolean {
  return body.type === "task_assignment" || body.type === "shutdown_request" || body.type === "shutdown_response";
}
