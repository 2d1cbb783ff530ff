import type { FireHook } from "../protocol/hook.ts";
import type { Envelope } from "../protocol/team.ts";
import type { ConvergeOptions } from "../team/converge/converge.ts";
import type { ConvergeReport } from "../team/converge/report.ts";

/** Where a convergence fires events, in the lead's name. */
export function mergeHooks(
  fireHook: FireHook | undefined,
  signal: AbortSignal,
): Pick<ConvergeOptions, "beforeMerge" | "afterMerge" | "onWorktree"> {
  if (!fireHook) return {};
  return {
    beforeMerge: async (merge) => (await fireHook({ event: "pre_merge", ...merge }, signal)).block,
    afterMerge: async (merge) => void (await fireHook({ event: "post_merge", ...merge }, signal)),
    onWorktree: async (worktree) => void (await fireHook({ event: "worktree_created", worktree }, signal)),
  };
}

/** A Converge that brought something home, or had nothing more to bring. */
export async function tellConverged(report: ConvergeReport, fireHook: FireHook | undefined, signal: AbortSignal): Promise<void> {
  const { exitCode, landed } = report;
  if (exitCode !== 0 && report.merged.length === 0) return;
  const merged = report.merged.map(({ name }) => name);
  const unmerged = report.unmerged.map(({ name }) => name);
  const where = landed ? { branch: landed.branch, commit: landed.to } : {};
  await fireHook?.({ event: "team_converged", exitCode, merged, unmerged, ...where }, signal);
}

/** Hooks hear of each message that a model is about to read. */
export async function tellOfMail(envelopes: readonly Envelope[], fireHook: FireHook | undefined): Promise<void> {
  if (!fireHook) return;
  for (const { from, body } of envelopes) {
    const text = "text" in body ? body.text : body.type === "idle_notification" ? body.lastText : "";
    await fireHook({ event: "message_received", from, kind: body.type, text }, new AbortController().signal);
  }
}
