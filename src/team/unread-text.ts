import type { Mailbox, Waiting } from "../protocol/team.ts";

/** Where the sender's words lie in the other's box. */
export function behind({ count, oldestAt }: Waiting): string {
  return count === 0 ? "" : `, behind ${unreadText(count, oldestAt)}`;
}

/** `2 unread (the oldest for 40 s)` */
export function unreadText(count: number, oldestAt: string | undefined): string {
  return `${count} unread${oldestAt === undefined ? "" : ` (the oldest for ${ageOf(oldestAt)})`}`;
}

/** Of those that have any; undefined when nobody has. */
export async function unreadOfAll(mailbox: Mailbox, names: readonly string[]): Promise<string | undefined> {
  const all = await Promise.all(names.map(async (name) => ({ name, waiting: await mailbox.waitingFor(name) })));
  const some = all.flatMap(({ name, waiting }) => (waiting.count > 0 ? [`${name}: ${unreadText(waiting.count, waiting.oldestAt)}`] : []));
  return some.length === 0 ? undefined : `Mail not read yet. ${some.join("; ")}.`;
}

/** `40 s`, `3 min` */
function ageOf(at: string): string {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(at)) / 1000));
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
