import { quoted } from "./land.ts";
import { pathsText, pathText } from "./path-text.ts";

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

export type ReportFacts = Omit<ConvergeReport, "text" | "exitCode"> & {
  checkout: string;
  baseBranch: string;
  check: string | undefined;
  /** The tip of the user's branch at the end was not what it was at the start. */
  isBaseMoved: boolean;
  /** Some of the merged are in the user's branch since an earlier Converge. */
  hasLandedBefore: boolean;
  /** Files among the landed ones that can run or instruct by themselves. */
  executable: readonly string[];
  choices: readonly string[];
  /** Commits of the integrator beside the merges. */
  own: readonly string[];
};

export function makeReport(facts: ReportFacts): ConvergeReport {
  const { merged, unmerged, landed, landProblem, gate, integratorText } = facts;
  return {
    merged,
    unmerged,
    ...(landed ? { landed } : {}),
    ...(landProblem === undefined ? {} : { landProblem }),
    ...(gate ? { gate } : {}),
    integratorText,
    text: reportText(facts),
    exitCode: exitCodeOf(facts),
  };
}

function exitCodeOf({ unmerged, landed, landProblem, isBaseMoved, hasLandedBefore }: ReportFacts): ConvergeReport["exitCode"] {
  if (unmerged.some((one) => one.kind === "conflict")) return 4;
  if (unmerged.length === 0 && landProblem === undefined) return 0;
  return landed !== undefined || hasLandedBefore || isBaseMoved ? 3 : 1;
}

function reportText(facts: ReportFacts): string {
  const { merged, unmerged, landed, landProblem, gate, integratorText, checkout, baseBranch, check, executable, choices, own } = facts;
  if (merged.length === 0 && unmerged.length === 0) return "No teammate has a commit to merge.";
  const git = `git -C ${quoted(checkout)}`;
  const lines = merged.map((one) => `${one.name}: merged (${one.commit.slice(0, 10)}), branch ${one.branch}.`);
  for (const { name, branch, kind, reason } of unmerged) {
    lines.push(
      `${name}: not merged (${kind}): ${reason}`,
      `  The work is on ${branch}. See it: ${git} diff ${baseBranch}...${quoted(branch)}; merge it by hand: ${git} merge --no-ff ${quoted(branch)}`,
    );
  }
  for (const choice of choices) lines.push(`A whole side was taken: ${pathText(choice)}.`);
  for (const commit of own) lines.push(`The integrator committed beside the merges: ${commit}`);
  lines.push(gateText(gate, check));
  if (landed)
    lines.push(
      `${landed.branch} moved from ${landed.from.slice(0, 10)} to ${landed.to.slice(0, 10)}. See it: ${git} log --oneline ${landed.from.slice(0, 10)}..${landed.to.slice(0, 10)}`,
    );
  if (landProblem !== undefined) lines.push(`${baseBranch} was not moved: ${landProblem}`);
  if (executable.length > 0)
    lines.push(`Look at these before you build or open the project, they can run or instruct by themselves: ${pathsText(executable)}.`);
  if (integratorText.trim() !== "") lines.push(`The integrator's report:\n${integratorText.trim()}`);
  return lines.filter((line) => line !== "").join("\n");
}

function gateText(gate: ConvergeReport["gate"], check: string | undefined): string {
  if (check === undefined) return "No check was given, so none was run on the result.";
  if (!gate) return "";
  return gate.ok ? `The check is green on the result: ${gate.command}` : `The check last failed: ${gate.command}\n${gate.output}`;
}
