import { RetentionPolicy, StorageType } from "@nats-io/jetstream";
import { isAlive, processPlace, selfIdentity } from "../../../platform/process.ts";
import { RevisionConflict, UserError } from "../../../protocol/errors.ts";
import type { ProcessIdentity, TeamBus, TeamConfig } from "../../../protocol/team.ts";
import type { BusAddress } from "../address.ts";
import type { BadMail } from "../bad-mail.ts";
import { rosterOf } from "../roster.ts";
import { TeamConfigSchema } from "../schemas.ts";
import { taskList } from "../task-list.ts";
import { type BusClient, connectBus, persistently } from "./client.ts";
import { openNatsMailbox } from "./mailbox.ts";
import { busNames, ROSTER_KEY } from "./names.ts";
import { ALIVE_MS, openNatsPresence } from "./presence.ts";
import { kvReader, kvRevisions, kvTaskRecords } from "./records.ts";
import { WatchedBucket } from "./watched-bucket.ts";

/** A message that is sent again within this time is taken for the same. */
const DUPLICATE_WINDOW_MS = 10 * 60_000;
const MS = 1_000_000;

export type NatsBusOptions = {
  address: BusAddress;
  team: string;
  self: { name: string; epoch: number };
  /** This process unless said otherwise. `host` names its machine. */
  process?: ProcessIdentity;
  clock?: () => number;
  onBad?: (bad: BadMail) => void;
};

/** Makes stream, buckets and the first roster revision. Throws a UserError when the server can't be used or the team is there. */
export async function createNatsTeam(address: BusAddress, team: Omit<TeamConfig, "version" | "revision">): Promise<TeamConfig> {
  await using client = await connectBus(address);
  const names = busNames(team.name);
  await persistently(client, () =>
    client.manager.streams.add({
      name: names.mailStream,
      subjects: [names.anyMail],
      retention: RetentionPolicy.Workqueue,
      storage: StorageType.File,
      allow_direct: true,
      duplicate_window: DUPLICATE_WINDOW_MS * MS,
    }),
  );
  // Reads go to the leader of the stream: who reads after a write must see it.
  const state = await persistently(client, () => client.bucket(names.stateBucket, { history: 1, allow_direct: false }));
  await persistently(client, () => client.bucket(names.taskBucket, { history: 1, allow_direct: false }));
  await persistently(client, () => client.objects(names.artifacts, true));
  await persistently(client, () => client.bucket(names.aliveBucket, { history: 1, ttl: ALIVE_MS, allow_direct: false }));
  const first = TeamConfigSchema.parse({ ...team, version: 1, revision: 1 });
  try {
    await kvRevisions({
      client,
      bucket: state,
      read: kvReader(client, state),
      key: ROSTER_KEY,
      what: "The roster",
      schema: TeamConfigSchema,
    }).add(first);
  } catch (error) {
    if (!(error instanceof RevisionConflict)) throw error;
    throw new UserError(`There is a team "${team.name}" on the bus at ${client.address} already. Choose another name with --name.`);
  }
  return first;
}

/** All that the server holds of a team. */
export async function removeNatsTeam(address: BusAddress, team: string): Promise<void> {
  await using client = await connectBus(address);
  const names = busNames(team);
  const streams = [
    names.mailStream,
    ...[names.stateBucket, names.taskBucket, names.aliveBucket].map((name) => `KV_${name}`),
    `OBJ_${names.artifacts}`,
  ];
  for (const stream of streams)
    await persistently(client, () => client.manager.streams.delete(stream)).catch((error: unknown) => {
      if (!(error instanceof Error && error.name === "StreamNotFoundError")) throw error;
    });
}

/** Joins a team as one of its members. Throws a UserError when the server can't be used or has no such team. */
export async function openNatsBus(options: NatsBusOptions): Promise<TeamBus> {
  const client = await connectBus(options.address);
  try {
    return await join(client, options);
  } catch (error) {
    await client[Symbol.asyncDispose]();
    throw error;
  }
}

async function join(client: BusClient, { team, self, onBad, ...options }: NatsBusOptions): Promise<TeamBus> {
  const names = busNames(team);
  const process = options.process ?? selfIdentity();
  const own: ProcessIdentity = { ...process, host: process.host ?? processPlace() };
  // A bucket is opened without a look whether it is there.
  await persistently(client, () => client.manager.streams.info(names.mailStream)).catch((error: unknown) => {
    if (!(error instanceof Error && error.name === "StreamNotFoundError")) throw error;
    throw new UserError(`There is no team "${team}" on the bus at ${client.address}.`, { cause: error });
  });
  const state = await client.existing(names.stateBucket);
  const taskBucket = await client.existing(names.taskBucket);
  const tasks = new WatchedBucket(client, taskBucket, names.taskBucket);
  const alive = await client.existing(names.aliveBucket);
  const roster = rosterOf(
    kvRevisions({ client, bucket: state, read: kvReader(client, state), key: ROSTER_KEY, what: "The roster", schema: TeamConfigSchema }),
    {
      place: `the bus at ${client.address}`,
    },
  );
  await roster.read();
  const mailbox = openNatsMailbox({
    client,
    names,
    state,
    roster,
    self,
    clock: options.clock ?? Date.now,
    onBad: onBad ?? (() => undefined),
  });
  const presence = openNatsPresence({ client, state, alive, names, process: own });
  return {
    roster,
    mailbox,
    // Of another machine's process nothing is known here; who holds a task there loses it by the lead's word alone.
    tasks: taskList(kvTaskRecords(client, taskBucket, tasks), (owner) => (owner.host ?? own.host) !== own.host || isAlive(owner)),
    presence,
    async [Symbol.asyncDispose]() {
      presence[Symbol.dispose]();
      await tasks[Symbol.asyncDispose]();
      await mailbox[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
    },
  };
}
