import { RevisionConflict, UserError } from "../../protocol/errors.ts";
import type { Roster, TeamConfig } from "../../protocol/team.ts";
import type { Revisions } from "./revisions.ts";
import { TeamConfigSchema } from "./schemas.ts";

type RosterOptions = {
  /** For the sentence that says that no team is there. */
  place: string;
  /** Before the roster names it. */
  onNewMember?: (name: string) => Promise<void>;
  onChanged?: () => Promise<void>;
};

/** The roster of every bus whose records are changed by compare-and-set. */
export function rosterOf(revisions: Revisions<TeamConfig>, { place, onNewMember, onChanged }: RosterOptions): Roster {
  async function read(): Promise<TeamConfig> {
    const team = await revisions.latest();
    if (team === undefined) throw new UserError(`There is no team in ${place}.`);
    return team;
  }
  return {
    read,
    async update(change) {
      for (;;) {
        const before = await read();
        const after = TeamConfigSchema.parse({ ...change(before), version: 1, revision: before.revision + 1 });
        const known = new Set(before.members.map((member) => member.name));
        for (const { name } of after.members) if (!known.has(name)) await onNewMember?.(name);
        try {
          await revisions.add(after);
        } catch (error) {
          if (error instanceof RevisionConflict) continue;
          throw error;
        }
        await onChanged?.();
        return after;
      }
    },
  };
}
