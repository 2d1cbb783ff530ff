import { join } from "node:path";
import * as z from "zod";
import { readOddFile, writeAtomic } from "../../../platform/files.ts";
import { RevisionConflict, UserError } from "../../../protocol/errors.ts";
import type { Roster, TeamConfig } from "../../../protocol/team.ts";
import { rosterOf } from "../roster.ts";
import { TeamConfigSchema } from "../schemas.ts";
import { makeInbox, type TeamLayout } from "./layout.ts";
import { damagedRevision, highestRevision, openRevisions, readRevision } from "./revisions.ts";

export function openRoster(layout: TeamLayout): Roster {
  return rosterOf(openRevisions({ folder: layout.roster, what: "The roster", schema: TeamConfigSchema }), {
    place: layout.folder,
    onNewMember: (name) => makeInbox(layout, name),
    onChanged: () => writePicture(layout),
  });
}

/** The first revision; a team that is there already stays as it is. */
export async function createRoster(layout: TeamLayout, team: Omit<TeamConfig, "version" | "revision">): Promise<TeamConfig> {
  const first = TeamConfigSchema.parse({ ...team, version: 1, revision: 1 });
  try {
    await openRevisions({ folder: layout.roster, what: "The roster", schema: TeamConfigSchema }).add(first);
  } catch (error) {
    if (!(error instanceof RevisionConflict)) throw error;
    throw new UserError(
      `There is a team "${team.name}" already. Go on with it by "roocode team resume ${team.name}", or remove it by "roocode team clean ${team.name}".`,
    );
  }
  await writePicture(layout);
  return first;
}

/** One clear line instead of a schema's complaint when a newer program wrote the team. */
export async function refuseNewerTeam(layout: TeamLayout): Promise<void> {
  const revision = await highestRevision(layout.roster);
  if (revision === 0) throw new UserError(`There is no team in ${layout.folder}.`);
  const team = await readRevision(layout.roster, revision);
  const version = VersionSchema.safeParse(team).data?.version;
  if (version !== undefined && version !== 1) {
    throw new UserError(
      `The team in ${layout.folder} was written by a newer RooCode (format ${version}, this one reads 1). Update RooCode and try again.`,
    );
  }
  if (!TeamConfigSchema.safeParse(team).success) throw damagedRevision(layout.roster, revision);
}

const VersionSchema = z.looseObject({ version: z.number() });

/**
 * team.json, for people and for other programs. Two writers may overtake each other, so each looks again after its rename:
 * whoever renames last has seen the highest revision.
 */
async function writePicture(layout: TeamLayout): Promise<void> {
  let written = 0;
  for (;;) {
    const revision = await highestRevision(layout.roster);
    if (revision === written) return;
    const { text } = await readOddFile(join(layout.roster, `${revision}.json`));
    if (text !== undefined) await writeAtomic(layout.config, text);
    written = revision;
  }
}
