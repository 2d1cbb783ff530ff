import { rm } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { readOddFile, writeAtomic } from "../../platform/files.ts";
import { UserError } from "../../protocol/errors.ts";
import type { TeamBus, TeamConfig } from "../../protocol/team.ts";
import { type BusAddress, BusAddressSchema } from "./address.ts";
import {
  createFileTeam,
  type FileBusOptions,
  makeTeamFolders,
  openFileBus,
  readFileRoster,
  readFileTeam,
  writeFileRecord,
} from "./file/open.ts";
import type { TeamPicture } from "./picture.ts";
import { memberNames } from "./recipients.ts";

const BusFileSchema = z.object({ version: z.literal(1), team: z.string(), address: BusAddressSchema });

/** In a team's folder where its bus is a server; else the bus is the folder itself. */
export const busFile = (teamFolder: string): string => join(teamFolder, "bus.json");

/** Joins a team as one of its members, over the bus that its folder names. */
export async function openTeamBus(options: Pick<FileBusOptions, "teamFolder" | "self" | "onBad">): Promise<TeamBus> {
  const server = await serverOf(options.teamFolder);
  if (server === undefined) return openFileBus(options);
  const { openNatsBus } = await import("./nats/open.ts");
  return openNatsBus({ ...server, self: options.self, ...(options.onBad ? { onBad: options.onBad } : {}) });
}

/** The first roster revision, on files or on a server. Throws a UserError when the team is there already. */
export async function createTeamOn(
  address: BusAddress | undefined,
  teamFolder: string,
  team: Omit<TeamConfig, "version" | "revision">,
): Promise<TeamConfig> {
  if (address === undefined) return createFileTeam(teamFolder, team);
  const { createNatsTeam } = await import("./nats/open.ts");
  const made = await createNatsTeam(address, team);
  // Logs, boot files and long texts stay with the lead.
  await makeTeamFolders(teamFolder);
  await writeAtomic(busFile(teamFolder), `${JSON.stringify({ version: 1, team: team.name, address }, undefined, 2)}\n`);
  return made;
}

/** Of a team in which this process is not. */
export async function readRoster(teamFolder: string): Promise<TeamConfig> {
  if ((await serverOf(teamFolder)) === undefined) return readFileRoster(teamFolder);
  await using bus = await openTeamBus({ teamFolder, self: { name: "", epoch: 0 } });
  return await bus.roster.read();
}

/** A look at a team without being in it. */
export async function readTeam(teamFolder: string): Promise<TeamPicture> {
  if ((await serverOf(teamFolder)) === undefined) return readFileTeam(teamFolder);
  await using bus = await openTeamBus({ teamFolder, self: { name: "", epoch: 0 } });
  const team = await bus.roster.read();
  const boxes = await Promise.all(memberNames(team).map(async (name) => [name, await bus.mailbox.waitingFor(name)] as const));
  return { team, tasks: await bus.tasks.list(), presence: await bus.presence.list(), boxes: Object.fromEntries(boxes) };
}

/** Of a team that is over: what the server holds of it comes into the folder, where `team report` finds it, and goes from the server. */
export async function settleOnFiles(teamFolder: string): Promise<void> {
  const server = await serverOf(teamFolder);
  if (server === undefined) return;
  await writeFileRecord(teamFolder, await readTeam(teamFolder));
  const { removeNatsTeam } = await import("./nats/open.ts");
  await removeNatsTeam(server.address, server.team);
  await rm(busFile(teamFolder), { force: true });
}

async function serverOf(teamFolder: string): Promise<{ team: string; address: BusAddress } | undefined> {
  const { text, problem } = await readOddFile(busFile(teamFolder));
  if (text === undefined && problem === undefined) return undefined;
  try {
    return BusFileSchema.parse(JSON.parse(text ?? ""));
  } catch (error) {
    throw new UserError(
      `${busFile(teamFolder)}, which names the team's bus, ${problem ?? "is damaged"}. Write it anew, as docs/several-machines.md shows.`,
      {
        cause: error,
      },
    );
  }
}
