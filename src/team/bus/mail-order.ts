import type { Envelope } from "../../protocol/team.ts";

/**
 * Across senders the given order stays (it is by time); among the places that one sender has, the envelopes go by epoch and
 * sequence. So a clock that jumps can move a sender's mail as a whole, never turn it round.
 */
export function inSenderOrder(byTime: readonly Envelope[]): Envelope[] {
  const queues = new Map<string, Envelope[]>();
  for (const envelope of byTime) queues.set(envelope.from, [...(queues.get(envelope.from) ?? []), envelope]);
  for (const queue of queues.values()) queue.sort((a, b) => a.epoch - b.epoch || a.seq - b.seq);
  return byTime.flatMap((envelope) => queues.get(envelope.from)?.shift() ?? []);
}
