import type { AgentEvent } from "../protocol/agent.ts";
import { type AssistantMessage, type Message, messageText, toolCalls } from "../protocol/message.ts";
import {
  addUsage,
  type ModelErrorKind,
  type ModelRequest,
  NO_USAGE,
  type StopReason,
  type ToolSpec,
  type Usage,
} from "../protocol/model.ts";
import type { RetriedEvent } from "./retry.ts";

export type ConversationOptions = {
  model: { stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<RetriedEvent> };
  modelId: string;
  maxTokens: number;
  system: string;
  toolSpecs: readonly ToolSpec[];
  /** Grows in place, append-only but for a compaction. What the loop yields has its entry here already. */
  history: Message[];
};

export type Answer = {
  stop: StopReason;
  usage: Usage;
  message: AssistantMessage;
  error?: { kind: ModelErrorKind; message: string };
  limitTokens?: number | undefined;
};

/** One model call as events; a refused, failed or interrupted answer comes back with what of it may stay in the history. */
export async function* callModel(options: ConversationOptions, signal: AbortSignal): AsyncGenerator<AgentEvent, Answer> {
  const answer = yield* attempt(options, options.maxTokens, signal);
  const cutInCall = answer.stop === "max_tokens" && toolCalls(answer.message).length > 0;
  if (!cutInCall || signal.aborted) return answer;
  // A call that the output limit cut is not run; a larger limit may let it through whole.
  yield { type: "attempt_reset", reason: "The output limit cut a tool call; asking once more with a larger limit." };
  const second = yield* attempt(options, options.maxTokens * 2, signal);
  return { ...second, usage: addUsage(answer.usage, second.usage) };
}

async function* attempt(options: ConversationOptions, maxTokens: number, signal: AbortSignal): AsyncGenerator<AgentEvent, Answer> {
  const request: ModelRequest = {
    model: options.modelId,
    system: options.system,
    messages: options.history,
    // As they are now: what is found while it is retried comes with the next one.
    tools: [...options.toolSpecs],
    maxTokens,
  };
  let partial = "";
  let error: Answer["error"];
  let limitTokens: number | undefined;
  for await (const event of options.model.stream(request, signal)) {
    switch (event.type) {
      case "text":
        partial += event.text;
        yield { type: "stream_text", text: event.text };
        break;
      case "thinking":
        yield { type: "stream_thinking", text: event.text };
        break;
      case "retry":
        yield { type: "state", state: event.kind === "rate_limit" ? "rate_limited" : "calling" };
        yield event;
        break;
      case "attempt_reset":
        partial = "";
        yield event;
        break;
      case "error":
        error = { kind: event.kind, message: event.text };
        limitTokens = event.limitTokens;
        break;
      case "end":
        return { ...settle(event.stop, event.usage, event.message, error), limitTokens };
      case "tool_start":
      case "tool_delta":
      case "tool_end":
        break;
    }
  }
  // No `end`: the person interrupted. Finished text stays, calls and unsigned thinking go.
  const content = partial.trim() === "" ? [] : [{ type: "text" as const, text: `${partial}\n[interrupted]` }];
  return { stop: "error", usage: NO_USAGE, message: { role: "assistant", provider: "", model: options.modelId, content } };
}

/** What of an answer enters the history: nothing of a failed or refused one. */
function settle(stop: StopReason, usage: Usage, message: AssistantMessage, error: Answer["error"]): Answer {
  if (stop === "error" || stop === "refusal" || stop === "context") {
    const shown = messageText(message);
    const reason = error ?? (stop === "context" ? { kind: "context_length" as const, message: "The context window is full." } : undefined);
    return {
      stop,
      usage,
      message: { ...message, content: [] },
      ...(reason ? { error: reason } : { error: { kind: "server" as const, message: shown } }),
    };
  }
  return { stop, usage, message };
}

export function isTooLong({ stop, error }: Answer): boolean {
  return stop === "context" || error?.kind === "context_length";
}
