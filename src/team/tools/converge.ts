import * as z from "zod";
import { defineTool } from "../../protocol/define-tool.ts";
import { LEAD, type Presence } from "../../protocol/team.ts";
import { errorResult, type Tool, textResult } from "../../protocol/tool.ts";
import type { ConvergeReport } from "../converge/report.ts";

const schema = z.strictObject({
  guidance: z
    .string()
    .optional()
    .describe("What the integrator should know: an order, which side of a conflict is right, a decision of the user."),
});

export type RunConverge = (guidance: string | undefined, signal: AbortSignal) => Promise<ConvergeReport>;

export function convergeTool(run: RunConverge, presence: Presence): Tool {
  return defineTool({
    name: "Converge",
    description: [
      "Merges the branches of all teammates: an integrator merges them one by one in a worktree of its own and resolves conflicts, the system runs the check after each merge and moves the user's branch by fast-forward.",
      "Call it when the tasks are completed and every teammate is idle; while one works it is refused.",
      "Answers with what was merged, what was not and why, and whether the user's branch moved. What was not merged stays on its branch: you may give its owner a task and converge again.",
    ].join("\n"),
    schema,
    access: () => ({ kind: "other", subject: "Converge" }),
    async run({ guidance }, { signal }) {
      const busy = (await presence.list()).filter((state) => state.name !== LEAD && ["starting", "busy", "waiting"].includes(state.status));
      if (busy.length > 0)
        return errorResult(
          `Still at work: ${busy.map((state) => state.name).join(", ")}. End your turn and wait for their idle notices, or stop them.`,
        );
      const report = await run(guidance, signal);
      return report.exitCode === 0 ? textResult(report.text) : errorResult(report.text);
    },
  });
}
