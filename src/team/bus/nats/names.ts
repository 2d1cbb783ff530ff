/** What a team's streams, buckets and subjects are called on the server. */
export type BusNames = {
  mailStream: string;
  /** KV: roster, used epochs, what each member said last. */
  stateBucket: string;
  /** KV, a key a task. */
  taskBucket: string;
  /** Object store: bundles of branches. */
  artifacts: string;
  /** KV with a maximum age: who has been heard of lately. */
  aliveBucket: string;
  anyMail: string;
  mailSubject(to: string, from: string, isNews: boolean): string;
  /** All of a member's mail, or the part that wakes it. */
  mailFilter(to: string, part?: "wake"): string;
  consumer(member: string): string;
  epochKey(member: string, epoch: number): string;
  presenceKey(member: string): string;
  branchKey(member: string): string;
};

export const ROSTER_KEY = "roster";
export const ALL_PRESENCE = "presence.*";

export function busNames(team: string): BusNames {
  const part = token(team);
  const subject = `roocode.${part}.mail`;
  return {
    mailStream: `roocode_${part}_mail`,
    stateBucket: `roocode_${part}_state`,
    taskBucket: `roocode_${part}_tasks`,
    artifacts: `roocode_${part}_artifacts`,
    aliveBucket: `roocode_${part}_alive`,
    anyMail: `${subject}.>`,
    mailSubject: (to, from, isNews) => `${subject}.${token(to)}.${isNews ? "news" : "wake"}.${token(from)}`,
    mailFilter: (to, kind) => (kind === undefined ? `${subject}.${token(to)}.>` : `${subject}.${token(to)}.${kind}.*`),
    consumer: token,
    epochKey: (member, epoch) => `epoch.${token(member)}.${epoch}`,
    branchKey: (member) => `branch.${token(member)}`,
    presenceKey: (member) => `presence.${token(member)}`,
  };
}

/**
 * A name as one part of a subject, a key and a stream's name: these take ASCII letters, digits, "-" and "_". Others stand as their
 * UTF-8 in hexadecimal behind "__x", which none of the former begins with, since a name begins with a letter or digit.
 */
export function token(name: string): string {
  return /^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(name) ? name : `__x${Buffer.from(name).toString("hex")}`;
}
