import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { isErrno } from "../../../platform/files.ts";
import { UserError } from "../../../protocol/errors.ts";

const INBOX_FOLDERS = ["tmp", "new", "cur", "bad"] as const;
export type InboxFolder = (typeof INBOX_FOLDERS)[number];

/** Where things lie in a team's folder (spec.md, section 9). */
export type TeamLayout = ReturnType<typeof teamLayout>;

export function teamLayout(folder: string) {
  return {
    folder,
    config: join(folder, "team.json"),
    roster: join(folder, "roster"),
    tasks: join(folder, "tasks"),
    task: (id: string) => join(folder, "tasks", id),
    inboxes: join(folder, "inboxes"),
    inbox: (name: string, part: InboxFolder) => join(folder, "inboxes", name, part),
    presence: join(folder, "presence"),
    /** One empty file for each epoch of a sender that was ever used. */
    epochs: join(folder, "epochs"),
    /** Of each member, the key that its mail is signed with. */
    keys: join(folder, "keys"),
    key: (name: string) => join(folder, "keys", `${name}.key`),
    /** Texts too long for a message. */
    artifacts: join(folder, "artifacts"),
    /** A file for each provider that asked for a pause. */
    waits: join(folder, "waits"),
    boot: join(folder, "boot"),
    /** One file for each pair of members and file that they both change, once that was told. */
    overlaps: join(folder, "overlaps"),
    log: join(folder, "log.jsonl"),
    audit: join(folder, "audit.jsonl"),
  };
}

/** Throws a UserError where something else lies in its place. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw isErrno(error, "EEXIST", "ENOTDIR") ? notAFolder(path) : error;
  }
}

export function notAFolder(path: string): UserError {
  return new UserError(`${path} is no folder of a team. Move it away.`);
}

export async function makeInbox(layout: TeamLayout, name: string): Promise<void> {
  for (const part of INBOX_FOLDERS) await makeFolder(layout.inbox(name, part));
}
