import { join } from "node:path";
import { writeAtomic } from "../../../platform/files.ts";
import { isAlive, selfIdentity } from "../../../platform/process.ts";
import { watchFolder } from "../../../platform/watch.ts";
import type { ProcessIdentity, TeamBus, TeamConfig } from "../../../protocol/team.ts";
import type { BadMail } from "../bad-mail.ts";
import type { TeamPicture } from "../picture.ts";
import { memberNames } from "../recipients.ts";
import { TeamConfigSchema } from "../schemas.ts";
import { taskList } from "../task-list.ts";
import { waitingIn } from "./box.ts";
import { makeFolder, makeInbox, type TeamLayout, teamLayout } from "./layout.ts";
import { openMailbox } from "./mailbox.ts";
import { openPresence, readPresence } from "./presence.ts";
import { highestRevision, openRevisions } from "./revisions.ts";
import { createRoster, openRoster, refuseNewerTeam } from "./roster.ts";
import { openTaskRecords } from "./tasks.ts";

export type FileBusOptions = {
  teamFolder: string;
  /** `epoch` counts the member's starts. One that was used already is replaced by the next free one when something is sent. */
  self: { name: string; epoch: number };
  /** Whose presence and claims these are; this process unless said otherwise. */
  process?: ProcessIdentity;
  isAlive?: (identity: ProcessIdentity) => boolean;
  clock?: () => number;
  sweepMs?: number;
  /** Between two looks where the system gives no file events. */
  blindSweepMs?: number;
  onBad?: (bad: BadMail) => void;
  watch?: typeof watchFolder;
};
/** `isWatching` is false where mail is seen by sweeps alone (doctor says so). */
export type FileBus = TeamBus & { readonly isWatching: boolean };

/** Joins a team as one of its members. Throws a UserError when there is none, or a newer program wrote it. */
export async function openFileBus(options: FileBusOptions): Promise<FileBus> {
  const layout = teamLayout(options.teamFolder);
  await refuseNewerTeam(layout);
  await makeInbox(layout, options.self.name);
  const roster = openRoster(layout);
  const mailbox = await openMailbox({
    layout,
    roster,
    self: options.self,
    clock: options.clock ?? Date.now,
    sweepMs: options.sweepMs ?? 2000,
    blindSweepMs: options.blindSweepMs ?? 250,
    onBad: options.onBad ?? (() => undefined),
    watch: options.watch ?? watchFolder,
  });
  return {
    roster,
    mailbox,
    tasks: taskList(openTaskRecords(layout), options.isAlive ?? isAlive),
    presence: openPresence(layout, options.process ?? selfIdentity()),
    isWatching: mailbox.isWatching,
    async [Symbol.asyncDispose]() {
      mailbox.close();
    },
  };
}

/** Makes the folders and the first roster revision. Throws a UserError when the team is there already. */
export async function createFileTeam(teamFolder: string, team: Omit<TeamConfig, "version" | "revision">): Promise<TeamConfig> {
  const layout = await makeTeamFolders(teamFolder);
  const first = await createRoster(layout, team);
  for (const name of memberNames(first)) await makeInbox(layout, name);
  return first;
}

export async function makeTeamFolders(teamFolder: string): Promise<TeamLayout> {
  const layout = teamLayout(teamFolder);
  for (const folder of [layout.folder, layout.roster, layout.tasks, layout.inboxes, layout.presence, layout.boot]) await makeFolder(folder);
  return layout;
}

/** A team's last state, from another bus. Once is enough: what stands there already stays. */
export async function writeFileRecord(teamFolder: string, { team, tasks, presence }: TeamPicture): Promise<void> {
  const layout = await makeTeamFolders(teamFolder);
  if ((await highestRevision(layout.roster)) === 0)
    await openRevisions({ folder: layout.roster, what: "The roster", schema: TeamConfigSchema }).add(team);
  await writeAtomic(layout.config, `${JSON.stringify(team, undefined, 2)}\n`);
  const records = openTaskRecords(layout);
  for (const task of tasks) if ((await records.record(task.id).latest()) === undefined) await records.record(task.id).add(task);
  const gone: ProcessIdentity = { pid: 0, startedAt: "ended" };
  for (const state of presence)
    await writeAtomic(join(layout.presence, `${state.name}.json`), `${JSON.stringify({ ...state, process: gone })}\n`);
}

/** Throws a UserError where there is none, or a newer program wrote it. */
export async function readFileRoster(teamFolder: string): Promise<TeamConfig> {
  const layout = teamLayout(teamFolder);
  await refuseNewerTeam(layout);
  return openRoster(layout).read();
}

/** A look at a team without being in it: nothing is written, no watch is set. */
export async function readFileTeam(teamFolder: string): Promise<TeamPicture> {
  const layout = teamLayout(teamFolder);
  await refuseNewerTeam(layout);
  const team = await openRoster(layout).read();
  const names = memberNames(team);
  const boxes = await Promise.all(names.map(async (name) => [name, await waitingIn(layout, name)] as const));
  return {
    team,
    tasks: await taskList(openTaskRecords(layout), isAlive).list(),
    presence: await readPresence(layout),
    boxes: Object.fromEntries(boxes),
  };
}
