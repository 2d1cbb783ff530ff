import { randomBytes } from "node:crypto";
import { rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { isErrno } from "../../../platform/files.ts";
import type { watchFolder } from "../../../platform/watch.ts";
import type { Envelope, Mailbox, Roster } from "../../../protocol/team.ts";
import type { BadMail } from "../bad-mail.ts";
import { inSenderOrder } from "../mail-order.ts";
import { memberNames } from "../recipients.ts";
import { waitingIn } from "./box.ts";
import type { TeamLayout } from "./layout.ts";
import { openMailKeys } from "./mail-keys.ts";
import { openPost } from "./post.ts";
import { readMessage } from "./read-message.ts";
import { namesIn } from "./revisions.ts";

const KEPT_IN_CUR = 200;
const PRUNE_EVERY = 50;
const TMP_LEFTOVER_MS = 3_600_000;

export type MailboxOptions = {
  layout: TeamLayout;
  roster: Roster;
  self: { name: string; epoch: number };
  clock: () => number;
  sweepMs: number;
  /** Where the system refuses to watch. */
  blindSweepMs: number;
  onBad: (bad: BadMail) => void;
  watch: typeof watchFolder;
};
export type FileMailbox = Mailbox & { isWatching: boolean; close(): void };

export async function openMailbox(options: MailboxOptions): Promise<FileMailbox> {
  const { layout, roster, self, onBad } = options;
  const newFolder = layout.inbox(self.name, "new");
  const keys = openMailKeys(layout);
  const send = openPost({ ...options, keys });
  /** By file name: what `unread` has handed out and nobody has acknowledged. */
  const shown = new Map<string, Envelope>();
  let acknowledged = 0;

  // Before the first look into the folder: what comes in between is then seen by one of the two.
  const waiting = new Set<() => void>();
  const watcher = options.watch(newFolder, () => {
    for (const wake of waiting) wake();
  });
  const sweepMs = watcher ? options.sweepMs : options.blindSweepMs;
  await removeLeftovers(layout.inbox(self.name, "tmp"), options.clock());

  async function arrivedNames(): Promise<string[]> {
    return (await namesIn(newFolder)).filter((name) => !name.startsWith(".")).sort();
  }

  async function setAside(name: string, reason: string, from: string | undefined): Promise<void> {
    // A folder by that name may lie there from before, and a folder is not renamed over another.
    const file = join(layout.inbox(self.name, "bad"), `${name}.${randomBytes(3).toString("hex")}`);
    if (!(await moved(join(newFolder, name), file))) return;
    onBad({ file, reason, ...(from ? { from } : {}) });
    if (from === undefined || from === self.name || !memberNames(await roster.read()).includes(from)) return;
    const told = send(from, {
      type: "status_update",
      summary: "a message of yours could not be read",
      text: `Your message in ${name} was set aside by ${self.name}: ${reason}. Send it again if it matters.`,
    });
    // A full disk must not keep the good mail from being read.
    await told.catch((error) => onBad({ file, reason: `the sender could not be told: ${error}`, from }));
  }

  async function unread(): Promise<Envelope[]> {
    const names = await arrivedNames();
    const there = new Set(names);
    for (const name of shown.keys()) if (!there.has(name)) shown.delete(name);
    const byTime: Envelope[] = [];
    for (const name of names) {
      const known = shown.get(name);
      const read = known ? { envelope: known } : await readMessage(join(newFolder, name), self.name, keys);
      if ("bad" in read) await setAside(name, read.bad, read.from);
      if (!("envelope" in read)) continue;
      shown.set(name, read.envelope);
      byTime.push(read.envelope);
    }
    return inSenderOrder(byTime);
  }

  return {
    isWatching: watcher !== undefined,
    send,
    unread,
    async acknowledge(ids) {
      const wanted = new Set(ids);
      const known = new Set([...shown.values()].map((envelope) => envelope.id));
      // After a restart the ids come from the transcript, before anything was read here.
      if (!ids.every((id) => known.has(id))) await unread();
      for (const [name, envelope] of [...shown]) {
        if (!wanted.has(envelope.id)) continue;
        await moved(join(newFolder, name), join(layout.inbox(self.name, "cur"), name));
        shown.delete(name);
        if (acknowledged++ % PRUNE_EVERY === 0) await prune(layout.inbox(self.name, "cur"));
      }
    },
    waitingFor: (name) => waitingIn(layout, name),
    async arrival(signal) {
      for (;;) {
        signal.throwIfAborted();
        let wake: () => void = () => undefined;
        const woken = new Promise<void>((resolve) => {
          wake = resolve;
        });
        waiting.add(wake);
        try {
          if ((await arrivedNames()).some((name) => !shown.has(name))) return;
          await wokenOrLate(woken, sweepMs, signal);
        } finally {
          waiting.delete(wake);
        }
      }
    },
    close: () => watcher?.close(),
  };
}

/** Also returns on abort; the caller looks. The timer keeps the process alive: an idle member waits here. */
async function wokenOrLate(woken: Promise<void>, lateMs: number, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let stop: () => void = () => undefined;
  const late = new Promise<void>((resolve) => {
    stop = resolve;
    timer = setTimeout(resolve, lateMs);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    await Promise.race([woken, late]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

/** False when another process of the same member was quicker. */
async function moved(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (isErrno(error, "ENOENT")) return false;
    throw error;
  }
}

/** Names only; what was read once is never read again. */
async function prune(folder: string): Promise<void> {
  const names = (await namesIn(folder)).sort();
  await Promise.all(names.slice(0, -KEPT_IN_CUR).map((name) => rm(join(folder, name), { force: true })));
}

/** A sender that was killed leaves its half file; nobody writes for an hour. */
async function removeLeftovers(folder: string, now: number): Promise<void> {
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    const info = await stat(path).catch(() => undefined);
    if (info && now - info.mtimeMs > TMP_LEFTOVER_MS) await rm(path, { force: true, recursive: true });
  }
}
