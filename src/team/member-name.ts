import { LEAD, type TeamConfig } from "../protocol/team.ts";

/** Why a teammate can't have this name; undefined when it can. */
export function badMemberName(name: string, team: Pick<TeamConfig, "members">): string | undefined {
  if (name !== name.normalize("NFC") || !/^[\p{L}\p{N}][\p{L}\p{N}\p{M}_-]{0,31}$/u.test(name)) {
    return `"${name.slice(0, 60)}" is no name for a teammate: 1 to 32 letters, digits, "-" or "_", beginning with a letter or digit.`;
  }
  const folded = name.toLowerCase();
  if (folded === LEAD) return `"${name}" is taken: the lead has that name.`;
  const taken = team.members.find((member) => member.name.toLowerCase() === folded);
  return taken
    ? `"${name}" is taken by a teammate of this team. Write to ${taken.name} with SendMessage, or choose another name.`
    : undefined;
}

/** A team's name as folder and part of branch names. */
export function badTeamName(name: string): string | undefined {
  if (/^[\p{L}\p{N}][\p{L}\p{N}_-]{0,47}$/u.test(name)) return undefined;
  return `"${name.slice(0, 60)}" is no name for a team: 1 to 48 letters, digits, "-" or "_", beginning with a letter or digit.`;
}

/** A short name out of a goal. */
export function teamNameFrom(goal: string): string {
  const words =
    goal
      .normalize("NFC")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  let name = "";
  for (const word of words) {
    if (name.length + word.length > 30) break;
    name += name === "" ? word : `-${word}`;
  }
  return name === "" ? (words[0]?.slice(0, 30) ?? "team") : name;
}

export function memberBranch(team: string, name: string): string {
  return `worktree-team-${team}+${name}`;
}
