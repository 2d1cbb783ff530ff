import { join } from "node:path";
import type { Envelope, TeamMessage, Waiting } from "../../../protocol/team.ts";
import { previewOf } from "../message-parts.ts";
import { type InboxFolder, type TeamLayout, teamLayout } from "./layout.ts";
import { openMailKeys } from "./mail-keys.ts";
import { readMessage } from "./read-message.ts";
import { namesIn } from "./revisions.ts";

/** How the file of news ends, so that names alone tell whether a box holds something that wakes. */
export const QUIET = ".quiet.json";

/** By names: nothing is read, so a look costs the same whatever lies there. */
export async function waitingIn(layout: TeamLayout, member: string): Promise<Waiting> {
  const names = await messagesIn(layout, member, "new");
  const oldest = names.flatMap((name) => sentAt(name) ?? []).sort((a, b) => a - b)[0];
  return {
    count: names.length,
    waking: names.filter((name) => !name.endsWith(QUIET)).length,
    ...(oldest === undefined ? {} : { oldestAt: new Date(oldest).toISOString() }),
  };
}

export type Letter = { id: string; from: string; to: string; at: string; type: TeamMessage["type"]; summary: string; isRead: boolean };

/** The newest messages of a team's boxes, oldest first; only what its sender's key proves. Read ones are there until they are pruned. */
export async function recentMail(teamFolder: string, members: readonly string[], limit: number): Promise<Letter[]> {
  const layout = teamLayout(teamFolder);
  const keys = openMailKeys(layout);
  const found: { member: string; part: InboxFolder; name: string }[] = [];
  for (const member of members)
    for (const part of ["new", "cur"] as const)
      for (const name of await messagesIn(layout, member, part)) if (sentAt(name) !== undefined) found.push({ member, part, name });
  found.sort((a, b) => (a.name < b.name ? -1 : 1));
  const letters = await Promise.all(
    found.slice(-limit).map(async ({ member, part, name }): Promise<Letter | undefined> => {
      const read = await readMessage(join(layout.inbox(member, part), name), member, keys);
      if ("envelope" in read) return letter(read.envelope, part === "cur");
      // It was acknowledged between the look at the names and this one.
      const later = "gone" in read && part === "new" ? await readMessage(join(layout.inbox(member, "cur"), name), member, keys) : read;
      return "envelope" in later ? letter(later.envelope, true) : undefined;
    }),
  );
  return letters.filter((one) => one !== undefined);
}

function letter({ id, from, to, at, body }: Envelope, isRead: boolean): Letter {
  return { id, from, to, at, type: body.type, summary: previewOf(body), isRead };
}

async function messagesIn(layout: TeamLayout, member: string, part: InboxFolder): Promise<string[]> {
  return (await namesIn(layout.inbox(member, part))).filter((name) => !name.startsWith("."));
}

/** The time in a file's name, as `post.ts` gives it. */
function sentAt(name: string): number | undefined {
  const match = /^(\d{14})\./.exec(name);
  return match ? Number(match[1]) : undefined;
}
