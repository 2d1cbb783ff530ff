import type { AgentEvent, AgentInput, LoopComplete, LoopEndReason, Pending } from "../protocol/agent.ts";
import type { AssistantMessage, Message, ToolResultBlock } from "../protocol/message.ts";
import { messageText, toolCalls, userText } from "../protocol/message.ts";
import {
  addUsage,
  type ModelErrorKind,
  type ModelRequest,
  NO_USAGE,
  type StopReason,
  type ToolSpec,
  type Usage,
} from "../protocol/model.ts";
import { resultBlock, resultsMessage } from "../protocol/results.ts";
import { errorResult } from "../protocol/tool.ts";
import { RepeatGuard } from "./repeat-guard.ts";
import type { RetriedEvent } from "./retry.ts";
import { runRound } from "./round.ts";
import type { RunToolOptions } from "./run-tool.ts";

export type LoopOptions = {
  model: { stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<RetriedEvent> };
  modelId: string;
  maxTokens: number;
  system: string;
  toolSpecs: readonly ToolSpec[];
  maxTurns: number;
  /** Grows in place, append-only. What the loop yields has its entry here already. */
  history: Message[];
  runTool: RunToolOptions;
  pending?: () => Promise<Pending | undefined>;
};

/** What the machine does next; only `done` ends it. */
type State = { type: "calling" } | { type: "running_tools"; message: AssistantMessage } | { type: "done"; end: LoopComplete };

type Counters = { turns: number; usage: Usage; unknownRounds: number; cutRounds: number; askedToSpeak: boolean };

/**
 * The agent loop: call the model, run its tools, append all results in one user message, again.
 * Pulled: what was yielded is on disk before the next line runs. Always ends with exactly one `loop_complete`.
 */
export async function* runLoop(options: LoopOptions, input: AgentInput, signal: AbortSignal): AsyncGenerator<AgentEvent> {
  const { history } = options;
  const counters: Counters = { turns: 0, usage: NO_USAGE, unknownRounds: 0, cutRounds: 0, askedToSpeak: false };
  const repeats = new RepeatGuard();
  const finish = (reason: LoopEndReason, text = "", error?: { kind: ModelErrorKind; message: string }): State => ({
    type: "done",
    end: { type: "loop_complete", reason, text, turns: counters.turns, usage: counters.usage, ...(error ? { error } : {}) },
  });

  if (history.at(-1)?.role === "user") {
    // A turn that failed or was cut has no answer; some servers refuse two messages of the user in a row.
    const gap: AssistantMessage = { role: "assistant", provider: "", model: options.modelId, content: [{ type: "text", text: NO_ANSWER }] };
    history.push(gap);
    yield { type: "message", message: gap };
  }
  history.push(input.message);
  yield { type: "message", message: input.message, ...(input.mail ? { mail: input.mail } : {}) };

  let state: State = { type: "calling" };
  while (state.type !== "done") {
    // With calls open, the round below gives each its honest result first.
    if (signal.aborted && state.type === "calling") {
      state = finish("aborted", lastText(history));
      continue;
    }
    switch (state.type) {
      case "calling": {
        if (counters.turns >= options.maxTurns) {
          state = finish("max_turns", `Stopped after ${options.maxTurns} turns, not finished.`);
          break;
        }
        counters.turns += 1;
        yield { type: "turn_start", turn: counters.turns };
        yield { type: "state", state: "calling" };
        const answer: Answer = yield* callModel(options, signal);
        counters.usage = addUsage(counters.usage, answer.usage);
        if (answer.message.content.length > 0) {
          history.push(answer.message);
          yield { type: "message", message: answer.message, usage: answer.usage };
        }
        state = yield* afterAnswer(answer, options, counters, finish);
        break;
      }
      case "running_tools": {
        yield { type: "state", state: "running_tools" };
        const calls = toolCalls(state.message);
        const results: ToolResultBlock[] = yield* runRound(calls, options.runTool, signal);
        const onlyUnknown = calls.every((call) => !options.runTool.tools.has(call.name));
        counters.unknownRounds = onlyUnknown ? counters.unknownRounds + 1 : 0;
        const repeated = repeats.observe(calls, results);
        const pending = signal.aborted ? undefined : await options.pending?.();
        const reminder = joinReminders(repeated === "remind" ? REPEAT_REMINDER : undefined, pending?.reminder);
        history.push(resultsMessage(results, reminder));
        yield { type: "round_end", ...(reminder ? { reminder } : {}), ...(pending ? { mail: pending.mail } : {}) };
        if (counters.unknownRounds >= 3)
          state = finish("unknown_tools", "Stopped: three rounds in a row called only tools that do not exist.");
        else if (repeated === "stop") state = finish("repeating", "Stopped: the same call gave the same result six times in a row.");
        else state = { type: "calling" };
        break;
      }
    }
  }
  yield state.end;
}

const REPEAT_REMINDER =
  "<system-reminder>You made the same call four times in a row and got the same result each time. Do something else, or say what stops you.</system-reminder>";
const NO_ANSWER = "[This turn ended before it was answered.]";
const SPEAK_REMINDER =
  "<system-reminder>Your turn ended without a word or a call. Go on with the work, or say in a sentence what was done.</system-reminder>";

type Answer = { stop: StopReason; usage: Usage; message: AssistantMessage; error?: { kind: ModelErrorKind; message: string } };

/** One model call as events; a refused, failed or interrupted answer comes back with what of it may stay in the history. */
async function* callModel(options: LoopOptions, signal: AbortSignal): AsyncGenerator<AgentEvent, Answer> {
  const answer = yield* attempt(options, options.maxTokens, signal);
  const cutInCall = answer.stop === "max_tokens" && toolCalls(answer.message).length > 0;
  if (!cutInCall || signal.aborted) return answer;
  // A call that the output limit cut is not run; a larger limit may let it through whole.
  yield { type: "attempt_reset", reason: "The output limit cut a tool call; asking once more with a larger limit." };
  const second = yield* attempt(options, options.maxTokens * 2, signal);
  return { ...second, usage: addUsage(answer.usage, second.usage) };
}

async function* attempt(options: LoopOptions, maxTokens: number, signal: AbortSignal): AsyncGenerator<AgentEvent, Answer> {
  const request: ModelRequest = {
    model: options.modelId,
    system: options.system,
    messages: options.history,
    tools: options.toolSpecs,
    maxTokens,
  };
  let partial = "";
  let error: Answer["error"];
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
        break;
      case "end":
        return settle(event.stop, event.usage, event.message, error);
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

async function* afterAnswer(
  answer: Answer,
  options: LoopOptions,
  counters: Counters,
  finish: (reason: LoopEndReason, text?: string, error?: Answer["error"]) => State,
): AsyncGenerator<AgentEvent, State> {
  const { stop, message, error } = answer;
  if (stop === "error" && !error) return finish("aborted", messageText(message));
  if (stop === "refusal") return finish("refusal", error?.message || "The model refused to answer.");
  if (stop === "error" || stop === "context") return finish("error", error?.message ?? "", error);

  const calls = toolCalls(message);
  if (stop === "max_tokens" && calls.length > 0) {
    counters.cutRounds += 1;
    if (counters.cutRounds > 3) return finish("error", "Stopped: the output limit cut the model's calls four times in a row.");
    const results = calls.map((call) =>
      resultBlock(call, errorResult("Not run: the answer was cut off by the output limit. Split the work into smaller calls.")),
    );
    for (const [index, call] of calls.entries()) {
      yield { type: "tool_use", call };
      const block = results[index];
      if (block) yield { type: "tool_result", call, result: { content: block.content, isError: true } };
    }
    options.history.push(resultsMessage(results, undefined));
    yield { type: "round_end" };
    return { type: "calling" };
  }
  counters.cutRounds = 0;
  if (calls.length > 0) return { type: "running_tools", message };
  if (stop === "pause") return { type: "calling" };
  if (stop === "max_tokens") yield { type: "notice", text: "The answer was cut off by the output limit." };
  if (message.content.length === 0 && endsWithResults(options.history) && !counters.askedToSpeak) {
    counters.askedToSpeak = true;
    const nudge = userText(SPEAK_REMINDER);
    options.history.push(nudge);
    yield { type: "message", message: nudge };
    return { type: "calling" };
  }
  return finish("end_turn", messageText(message));
}

function joinReminders(...parts: (string | undefined)[]): string | undefined {
  const text = parts.filter((part) => part !== undefined && part !== "").join("\n\n");
  return text === "" ? undefined : text;
}

function endsWithResults(history: readonly Message[]): boolean {
  return history.at(-1)?.content.some((block) => block.type === "tool_result") ?? false;
}

function lastText(history: readonly Message[]): string {
  const last = history.findLast((message) => message.role === "assistant");
  return last ? messageText(last) : "";
}
