import { LEAD, type TeamConfig } from "../protocol/team.ts";

/** Every way to address a member (its name, its agentId) to its name. */
export function agentNameRegistry(team: TeamConfig): Map<string, string> {
  return new Map([
    [LEAD, LEAD],
    [team.leadAgentId, LEAD],
    ...team.members.flatMap((member) => [[member.name, member.name] as const, [member.agentId, member.name] as const]),
  ]);
}
