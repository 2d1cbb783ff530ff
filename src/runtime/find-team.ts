import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { exists, isErrno } from "../platform/files.ts";
import type { DataPaths } from "../platform/paths.ts";
import { UserError } from "../protocol/errors.ts";
import { teamLayout } from "../team/bus/file/layout.ts";
import { highestRevision } from "../team/bus/file/revisions.ts";
import { busFile } from "../team/bus/team-bus.ts";

async function folders(path: string): Promise<string[]> {
  try {
    return (await readdir(path, { withFileTypes: true }))
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
      .map((entry) => entry.name);
  } catch (error) {
    if (isErrno(error, "ENOENT")) return [];
    throw error;
  }
}

export async function teamNames(data: DataPaths): Promise<string[]> {
  const names = await folders(data.teams);
  const whole = await Promise.all(names.map((name) => isTeam(data.team(name))));
  return names.filter((_, index) => whole[index]);
}

/** False as well for a folder whose team was never written whole: the one who made it was ended. */
export async function isTeam(folder: string): Promise<boolean> {
  if (await exists(busFile(folder))) return true;
  return (await highestRevision(teamLayout(folder).roster).catch(damaged)) > 0;
}

/** It is one all the same, and whoever reads it says what is wrong. */
function damaged(error: unknown): number {
  if (error instanceof UserError) return 1;
  throw error;
}

/** The folder of a team that goes on or was kept. */
export async function teamFolder(data: DataPaths, name: string): Promise<string> {
  if (!name.includes("/") && (await isTeam(data.team(name)))) return data.team(name);
  const known = await teamNames(data);
  throw new UserError(
    `There is no team "${name}". ${known.length > 0 ? `Teams: ${known.join(", ")}.` : 'Start one with: roocode team "goal"'}`,
  );
}

/** Likewise, and of teams that are over the newest of that name. */
export async function teamRecord(data: DataPaths, name: string): Promise<string> {
  if (!name.includes("/") && (await isTeam(data.team(name)))) return data.team(name);
  const done = (await folders(data.doneTeams)).filter(
    (folder) => folder.startsWith(`${name}-`) && /^-\d{4}-\d{2}-\d{2}T\d+$/.test(folder.slice(name.length)),
  );
  const newest = done.sort().at(-1);
  return newest === undefined ? teamFolder(data, name) : join(data.doneTeams, newest);
}
