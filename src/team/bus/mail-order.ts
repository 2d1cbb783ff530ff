import type { Envelope } from "../../protocol/team.ts";

/**
 * Across senders the given order stays (it is by time); among the places that one sender has, the envelopes go by epoch and
 * sequence. So a clock that jumps can move a sender's mail as a whole, never turn it round.
 */
export function inSenderOrder(byTime: readonly Envelope[]): Envelope[] {
  const bySender = new Map<string, Envelope[]>();
  for (const envelope of byTime) {
    const mail = bySender.get(envelope.from) ?? [];
    mail.push(envelope);
    bySender.set(envelope.from, mail);
  }
  const next = new Map([...bySender].map(([from, mail]) => [from, mail.sort((a, b) => a.epoch - b.epoch || a.seq - b.seq).values()]));
  return byTime.flatMap((envelope) => next.get(envelope.from)?.next().value ?? []);
}
