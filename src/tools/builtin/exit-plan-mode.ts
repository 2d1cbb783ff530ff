import * as z from "zod";
import { defineWrittenTool } from "../../protocol/define-tool.ts";
import { interrupter } from "../../protocol/interruption.ts";
import type { PermissionMode } from "../../protocol/permission.ts";
import { errorResult, type Tool, textResult } from "../../protocol/tool.ts";

/** The answer to a plan: the mode to go on in, with a word beside it, or what to change. */
export type PlanAnswer = { mode: PermissionMode; remark?: string } | { feedback: string };
/** Undefined when nobody is there to answer. */
export type ApprovePlan = (plan: string, file: string, signal: AbortSignal) => Promise<PlanAnswer | undefined>;
export type PlanDesk = {
  file: string;
  /** Who approves it, if not the person. */
  approver?: string;
  isPlanning(): boolean;
  read(): Promise<string | undefined>;
  write(plan: string): Promise<void>;
  approve: ApprovePlan;
  /** Planning is over. */
  leave(mode: PermissionMode): Promise<void>;
};

const PLAN = "The whole plan, only if it does not stand in the plan file yet.";

export const exitPlanSchema = () => z.object({ plan: z.string().optional().describe(PLAN) });

/** Presents the plan to the person, who lets it be carried out in a mode of their choice, or says what to change. */
export function exitPlanModeTool(desk: PlanDesk): Tool {
  const approver = desk.approver === undefined ? "The person" : `The ${desk.approver}`;
  return defineWrittenTool({
    name: "ExitPlanMode",
    description:
      "In plan mode, once the plan file is whole: shows the plan to the person and waits for their yes or what to change. Not for questions, and not when nothing is to be changed.",
    inputSchema: { type: "object", properties: { plan: { description: PLAN, type: "string" } } },
    schema: exitPlanSchema,
    access: () => ({ kind: "other", subject: desk.file }),
    async run({ plan: given }, { signal }) {
      if (!desk.isPlanning()) return errorResult("Plan mode is not on: go on with the work.");
      if (given?.trim()) await desk.write(given);
      const plan = (await desk.read())?.trim() ?? "";
      if (plan === "") return errorResult(`There is no plan yet. Write it to ${desk.file} first, then call this again.`);
      const answer = await desk.approve(plan, desk.file, signal);
      if (answer === undefined && signal.aborted)
        return errorResult(`Interrupted by ${interrupter(signal)}. The plan is not approved; plan mode stays on.`);
      if (answer === undefined)
        return errorResult(
          `Nobody is here to approve the plan. It stays in ${desk.file} and is left open: change nothing, and end your turn with a summary of it.`,
        );
      if ("feedback" in answer)
        return errorResult(
          `${approver} wants the plan changed; plan mode stays on. Change ${desk.file}, then call this again.\n${answer.feedback}`,
        );
      await desk.leave(answer.mode);
      const remark = answer.remark === undefined ? "" : `\n${answer.remark}`;
      return textResult(
        `${approver} approved the plan in ${desk.file}. Plan mode is over, the mode is ${answer.mode}: carry the plan out.${remark}`,
      );
    },
  });
}
