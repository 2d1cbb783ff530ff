import type { PermissionDecision, PermissionMode } from "../protocol/permission.ts";
import type { Ground } from "./path-sandbox.ts";
import type { RuleSet } from "./rules.ts";

export type DecisionContext = {
  ground: Ground;
  mode: PermissionMode;
  rules: RuleSet;
  isTrusted: boolean;
  planFile?: string | undefined;
  /** Whether git may read in this folder without starting a program that the repository names. */
  gitIsSafe(folder: string): boolean;
};

/** What one layer says. */
export type LayerVote = PermissionDecision;

/** Ranks a vote on the lattice deny > sticky ask > ask > allow. */
export function rank(vote: { decision: PermissionDecision["decision"]; sticky: boolean }): number {
  if (vote.decision === "deny") return 3;
  if (vote.decision === "allow") return 0;
  return vote.sticky ? 2 : 1;
}

/** The strictest vote; of equals the first. So no later layer can flip a deny. */
export function join(votes: readonly LayerVote[]): LayerVote | undefined {
  return votes.reduce<LayerVote | undefined>(
    (strictest, vote) => (strictest && rank(strictest) >= rank(vote) ? strictest : vote),
    undefined,
  );
}
