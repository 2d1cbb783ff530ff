import { LEAD, type TeamConfig, type TeamMessage, type TeammateInfo } from "../../../src/protocol/team.ts";

export function sampleTeam(...names: string[]): Omit<TeamConfig, "version" | "revision"> {
  return {
    name: "auth",
    goal: "refactor auth module",
    leadAgentId: `${LEAD}@auth`,
    repoRoot: "/repo",
    baseBranch: "main",
    baseCommit: "0".repeat(40),
    members: names.map(sampleMember),
  };
}

export function sampleMember(name: string): TeammateInfo {
  return {
    name,
    agentId: `${name}@auth`,
    agentType: "worker",
    worktreePath: `/worktrees/${name}`,
    branch: `worktree-team-auth+${name}`,
    baseCommit: "0".repeat(40),
    backendType: "process",
    epoch: 1,
    planModeRequired: false,
    permissionMode: "acceptEdits",
  };
}

export function message(text: string): TeamMessage {
  return { type: "message", summary: "a word", text };
}
