import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isErrno } from "../platform/files.ts";
import { LEAD, type TeamBus, type TeamMessage, type TeammateInfo } from "../protocol/team.ts";
import { changesOf, filesOfMembers, mayShare, type Overlap, overlapLines, overlapsOf } from "./foresight.ts";

type StatusUpdate = Extract<TeamMessage, { summary: string }>;
export type OverlapOptions = {
  bus: TeamBus;
  /** What was told is kept here, so that of all members' processes one tells it once. */
  folder: string;
  self: TeammateInfo;
  onSent: (to: string, body: StatusUpdate) => void;
};

/**
 * Tells two members, and the lead, that they change the same file, the first time one of them has something to show: at a completed task
 * and when it goes idle, never by a timer. A status update: it wakes nobody and is no task.
 */
export class OverlapNews {
  readonly #options: OverlapOptions;
  /** Files at the last look. While they are the same, news is the others' to tell. */
  #seen = "";
  #looking: Promise<unknown> = Promise.resolve();

  constructor(options: OverlapOptions) {
    this.#options = options;
  }

  /** Words for the member's own model; undefined when there is nothing new. One look at a time. */
  look(): Promise<string | undefined> {
    const next = this.#looking.then(() => this.#lookNow());
    this.#looking = next.catch(() => undefined);
    return next;
  }

  async #lookNow(): Promise<string | undefined> {
    const { bus, self, onSent } = this.#options;
    const { members, baseBranch } = await bus.roster.read();
    const changes = await changesOf(self, baseBranch);
    const own = [...changes.keys()].sort();
    const seen = own.join("\0");
    if (seen === this.#seen) return undefined;
    this.#seen = seen;
    const others = members.filter(({ name }) => name !== self.name);
    const sharing = await mayShare(changes, others);
    const shared = overlapsOf([{ name: self.name, files: own }, ...(await filesOfMembers({ members: sharing, baseBranch }))]);
    const news: Overlap[] = [];
    for (const { name } of others) {
      const pair = shared.flatMap(({ file, members: who }) =>
        who.includes(self.name) && who.includes(name) ? [{ file, members: [self.name, name] }] : [],
      );
      const fresh: Overlap[] = [];
      for (const one of pair) if (await this.#claim(one)) fresh.push(one);
      if (fresh.length === 0) continue;
      news.push(...fresh);
      await this.#send(name, fresh, onSent);
    }
    if (news.length === 0) return undefined;
    await this.#send(LEAD, news, onSent);
    return textOf(news);
  }

  async #send(to: string, overlaps: readonly Overlap[], onSent: OverlapOptions["onSent"]): Promise<void> {
    const body: StatusUpdate = { type: "status_update", summary: summaryOf(overlaps), text: textOf(overlaps) };
    await this.#options.bus.mailbox.send(to, body);
    onSent(to, body);
  }

  /** True for the one process that is to tell it. */
  async #claim({ file, members }: Overlap): Promise<boolean> {
    const { folder } = this.#options;
    const name = createHash("sha256")
      .update([file, ...[...members].sort()].join("\0"))
      .digest("hex");
    await mkdir(folder, { recursive: true, mode: 0o700 });
    try {
      await writeFile(join(folder, name), `${members.join(" and ")}: ${file}\n`, { flag: "wx", mode: 0o600 });
      return true;
    } catch (error) {
      if (isErrno(error, "EEXIST")) return false;
      throw error;
    }
  }
}

function summaryOf(overlaps: readonly Overlap[]): string {
  const files = [...new Set(overlaps.map(({ file }) => file))];
  return `both change ${files[0]}${files.length > 1 ? ` and ${files.length - 1} more` : ""}`;
}

function textOf(overlaps: readonly Overlap[]): string {
  const lines = overlapLines(overlaps).map((line) => `The system sees that ${line}.`);
  return `${lines.join("\n")}\nTheir branches will meet there when they are merged. Agree who does what in it, if you have not.`;
}
