import type { AgentEvent, CompactTrigger } from "../../protocol/agent.ts";
import type { Compaction } from "../../protocol/memory.ts";
import type { Message } from "../../protocol/message.ts";
import { addUsage, type ModelRequest, type ToolSpec, type Usage } from "../../protocol/model.ts";
import { estimateText } from "../tokens.ts";
import { type Ask, askSummary } from "./ask-summary.ts";
import { hasTooManyImages } from "./limits.ts";
import type { Plan } from "./plan.ts";
import { summaryPrompt } from "./summary-prompt.ts";
import { suffixRequest, transcriptRequest } from "./summary-request.ts";
import type { Window } from "./window.ts";

export type LadderOptions = {
  model: string;
  maxOutputTokens: number;
  system: string;
  toolSpecs: readonly ToolSpec[];
  ask: Ask;
  window: Window;
  trigger: CompactTrigger;
  focus: string | undefined;
  signal: AbortSignal;
};
/** What all rungs together took, and why the last one failed. */
export type Run = { usage: Usage; reason: string; isServerFault: boolean };
type Compacted = Pick<Compaction, "history" | "mode">;

/**
 * A summary by the live conversation, else by a transcript of it, else no summary and fewer rounds. Undefined when none of it
 * helps: `run` has the reason. An interrupt ends it as well; the caller looks at the signal.
 */
export async function* climbDown(plan: Plan, options: LadderOptions, run: Run): AsyncGenerator<AgentEvent, Compacted | undefined> {
  const { trigger, window, signal } = options;
  run.reason = plan.hopeless() ?? "";
  if (run.reason !== "" || signal.aborted) return undefined;

  if (plan.canGain()) {
    const summarised = yield* withModel(plan, options, run);
    if (summarised || signal.aborted) return summarised;
  } else run.reason = "nearly all of it is words and instructions that stay";

  const isTight = window.count.used(plan.history) >= window.limits().trigger || hasTooManyImages(plan.history);
  const isWish = trigger === "manual" && !isTight;
  // Whoever asks for a summary while there is room would not want to lose rounds because a server is down.
  const history = isWish && run.isServerFault ? undefined : plan.dropped(isWish ? 0.9 : 1);
  if (history) return { history, mode: "dropped" };
  run.reason = isWish ? `Not compacted: ${run.reason}.` : `The conversation can't be made shorter: ${run.reason}. ${plan.sizes()}`;
  return undefined;
}

async function* withModel(plan: Plan, options: LadderOptions, run: Run): AsyncGenerator<AgentEvent, Compacted | undefined> {
  const { window, focus, signal } = options;
  if (suffixFits(plan.history, options)) {
    const { history } = yield* summarise(plan, suffixRequest(plan.history, options, window.limits().summary, focus), options, run);
    if (history) return { history, mode: "suffix" };
  }
  // A transcript that the server finds too long is shortened once more: by the limit that it names, and by half.
  for (const share of [1, 0.5]) {
    if (signal.aborted) return undefined;
    const request = transcriptRequest(plan.history, options, window.rawLimits(), { focus, share });
    if (!request) {
      run.reason ||= "the window is too small for a request that summarises";
      return undefined;
    }
    const { history, isTooLong } = yield* summarise(plan, request, options, run);
    if (history) return { history, mode: "transcript" };
    if (!isTooLong) return undefined;
  }
  return undefined;
}

function suffixFits(history: readonly Message[], { trigger, window, focus }: LadderOptions): boolean {
  const last = history.at(-1);
  const hasOpenCalls = last?.role === "assistant" && last.content.some((block) => block.type === "tool_use");
  if (trigger === "overflow" || hasOpenCalls || hasTooManyImages(history)) return false;
  const { window: most } = window.limits();
  const prompt = estimateText(summaryPrompt(focus)) * window.count.ratio;
  return window.count.used(history) + prompt + Math.min(20_000, most / 4) <= most;
}

async function* summarise(
  plan: Plan,
  request: ModelRequest,
  { ask, window, signal }: LadderOptions,
  run: Run,
): AsyncGenerator<AgentEvent, { history?: Message[] | undefined; isTooLong?: boolean }> {
  const answer = yield* askSummary(ask, request, signal);
  run.usage = addUsage(run.usage, answer.usage);
  switch (answer.type) {
    case "summary":
      return signal.aborted ? {} : { history: await plan.withSummary(answer.text, run) };
    case "too_long":
      run.reason = answer.reason;
      window.tooLong(answer.limitTokens, window.sizeOfRequest(request));
      return { isTooLong: true };
    case "failed":
      run.reason = answer.reason;
      run.isServerFault = answer.isServerFault;
      return {};
    case "interrupted":
      return {};
  }
}
