import type { AgentState, TeamConfig, TeamTask, Waiting } from "../../protocol/team.ts";

export type TeamPicture = {
  team: TeamConfig;
  tasks: TeamTask[];
  /** Like Presence.list(). */
  presence: AgentState[];
  boxes: Record<string, Waiting>;
};
