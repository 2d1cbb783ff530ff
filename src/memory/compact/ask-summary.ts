import type { AgentEvent } from "../../protocol/agent.ts";
import { messageText, toolCalls } from "../../protocol/message.ts";
import { type ModelErrorKind, type ModelEvent, type ModelRequest, NO_USAGE, type Usage } from "../../protocol/model.ts";
import { isSummary } from "./summary-prompt.ts";

/** As the engine's retrying client streams. */
export type Ask = (
  request: ModelRequest,
  signal: AbortSignal,
) => AsyncIterable<
  | ModelEvent
  | { type: "retry"; attempt: number; max: number; delayMs: number; kind: ModelErrorKind }
  | { type: "attempt_reset"; reason: string }
>;

export type SummaryAnswer = { usage: Usage } & (
  | { type: "summary"; text: string }
  /** `isServerFault`: it says nothing of what a model could do with the conversation. */
  | { type: "failed"; reason: string; isServerFault: boolean }
  | { type: "too_long"; reason: string; limitTokens: number | undefined }
  | { type: "interrupted" }
);

/** One request for a summary. What is no whole summary in words is a failure with its reason. */
export async function* askSummary(ask: Ask, request: ModelRequest, signal: AbortSignal): AsyncGenerator<AgentEvent, SummaryAnswer> {
  let error: Extract<ModelEvent, { type: "error" }> | undefined;
  for await (const event of ask(request, signal)) {
    if (event.type === "retry") yield event;
    if (event.type === "error") error = event;
    if (event.type === "end") return answerOf(event, error);
  }
  return { type: "interrupted", usage: NO_USAGE };
}

function answerOf(
  { stop, usage, message }: Extract<ModelEvent, { type: "end" }>,
  error: Extract<ModelEvent, { type: "error" }> | undefined,
): SummaryAnswer {
  if (error?.kind === "context_length" || (!error && stop === "context")) {
    return { type: "too_long", usage, reason: error?.text ?? "the context window was full", limitTokens: error?.limitTokens };
  }
  const failed = (reason: string): SummaryAnswer => ({ type: "failed", usage, reason, isServerFault: error !== undefined });
  if (error) return failed(error.text);
  if (stop === "error" || stop === "refusal") return failed("the model refused to write a summary");
  if (toolCalls(message).length > 0) return failed("the model called a tool instead of writing a summary");
  const text = messageText(message).trim();
  if (text === "") return failed("the model's summary was empty");
  if (!isSummary(text)) return failed("the model's answer was no summary with the sections asked for");
  return { type: "summary", text, usage };
}
