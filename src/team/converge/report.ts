export type MergedMember = { name: string; branch: string; commit: string };
/** `conflict` waits for a human's decision; the others failed. `reason` is a sentence with what to do. */
export type UnmergedMember = { name: string; branch: string; kind: "conflict" | "gate" | "refused" | "left"; reason: string };

export type ConvergeReport = {
  merged: MergedMember[];
  unmerged: UnmergedMember[];
  /** The user's branch moved from `from` to `to`. */
  landed?: { branch: string; from: string; to: string };
  /** Why the user's branch was not moved though something was merged; the commit to merge by hand is in it. */
  landProblem?: string;
  gate?: { command: string; ok: boolean; output: string };
  /** The integrator's own words. */
  integratorText: string;
  /** All of the above for the model and the person. */
  text: string;
  exitCode: 0 | 1 | 3 | 4;
};
