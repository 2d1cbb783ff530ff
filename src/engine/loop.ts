import type { AgentEvent, AgentInput, CompactTrigger, LoopComplete, LoopEndReason, Pending } from "../protocol/agent.ts";
import type { Compactor } from "../protocol/memory.ts";
import type { AssistantMessage, Message, ToolResultBlock } from "../protocol/message.ts";
import { messageText, NO_ANSWER, toolCalls, userText } from "../protocol/message.ts";
import { addUsage, type ModelErrorKind, NO_USAGE, type Usage } from "../protocol/model.ts";
import { resultBlock, resultsMessage } from "../protocol/results.ts";
import { errorResult } from "../protocol/tool.ts";
import { type Answer, type ConversationOptions, callModel, isTooLong } from "./call-model.ts";
import { type Compacted, compactHistory } from "./compact-history.ts";
import { RepeatGuard } from "./repeat-guard.ts";
import { runRound } from "./round.ts";
import type { RunToolOptions } from "./run-tool.ts";

export type LoopOptions = ConversationOptions & {
  maxTurns: number;
  runTool: RunToolOptions;
  pending?: (() => Promise<Pending | undefined>) | undefined;
  compactor?: Compactor | undefined;
  /** A sentence once no more may be spent; asked before each model call. */
  overBudget?: (() => Promise<string | undefined>) | undefined;
  /** A sentence once a hook wants the run to end; asked before each model call. */
  halted?: (() => string | undefined) | undefined;
  /** Asked when the model is done: words by which it is to go on, or undefined. */
  beforeEnd?: ((text: string, signal: AbortSignal) => Promise<string | undefined>) | undefined;
  /** Looks at the history before each request, mends it in place if it must, and says what was wrong. */
  mend?: ((history: Message[]) => Promise<string[]>) | undefined;
};

/** What the machine does next; only `done` ends it. */
type State =
  | { type: "calling" }
  | { type: "compacting"; compactor: Compactor; trigger: Exclude<CompactTrigger, "manual"> }
  | { type: "running_tools"; message: AssistantMessage }
  | { type: "done"; end: LoopComplete };

type Counters = {
  turns: number;
  usage: Usage;
  unknownRounds: number;
  cutRounds: number;
  askedToSpeak: boolean;
  /** Since the last whole answer: a compaction that did not help is not tried again and again. */
  hasCompacted: boolean;
  /** Why it did not help: says more than the server, should that refuse what could not be made smaller. */
  refusal?: string;
};

/**
 * The agent loop: call the model, run its tools, append all results in one user message, again. Without an input it answers the history
 * as it stands. Pulled: what was yielded is on disk before the next line runs. Always ends with exactly one `loop_complete`.
 */
export async function* runLoop(options: LoopOptions, input: AgentInput | undefined, signal: AbortSignal): AsyncGenerator<AgentEvent> {
  const { history, compactor } = options;
  const counters: Counters = { turns: 0, usage: NO_USAGE, unknownRounds: 0, cutRounds: 0, askedToSpeak: false, hasCompacted: false };
  const repeats = new RepeatGuard();
  const finish = (reason: LoopEndReason, text = "", error?: { kind: ModelErrorKind; message: string }): State => ({
    type: "done",
    end: {
      type: "loop_complete",
      reason,
      text,
      turns: counters.turns,
      usage: counters.usage,
      ...(error ? { error } : {}),
    },
  });

  if (input && history.at(-1)?.role === "user") {
    // A turn that failed or was cut has no answer; some servers refuse two messages of the user in a row.
    const gap: AssistantMessage = { role: "assistant", provider: "", model: options.modelId, content: [{ type: "text", text: NO_ANSWER }] };
    history.push(gap);
    yield { type: "message", message: gap };
  }
  if (input) {
    history.push(input.message);
    yield { type: "message", message: input.message, ...(input.mail ? { mail: input.mail } : {}) };
  }

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
        const halted = options.halted?.();
        if (halted !== undefined) {
          state = finish("hook", halted);
          break;
        }
        const spent = await options.overBudget?.();
        if (spent !== undefined) {
          state = finish("budget", spent);
          break;
        }
        if (compactor && !counters.hasCompacted && compactor.isDue(history)) {
          state = { type: "compacting", compactor, trigger: "auto" };
          break;
        }
        for (const fault of (await options.mend?.(history)) ?? []) yield { type: "notice", text: fault };
        counters.turns += 1;
        yield { type: "turn_start", turn: counters.turns };
        yield { type: "state", state: "calling" };
        const answer: Answer = yield* callModel(options, signal);
        counters.usage = addUsage(counters.usage, answer.usage);
        if (isTooLong(answer) && counters.refusal !== undefined) {
          state = finish("error", counters.refusal, { kind: "context_length", message: counters.refusal });
          break;
        }
        if (compactor && isTooLong(answer) && !counters.hasCompacted) {
          compactor.tooLong(answer.limitTokens);
          state = { type: "compacting", compactor, trigger: "overflow" };
          break;
        }
        if (answer.message.content.length > 0) {
          counters.hasCompacted = false;
          delete counters.refusal;
          if (answer.usage !== NO_USAGE) compactor?.observe(history, answer.usage);
          for (const text of compactor?.takeNotices() ?? []) yield { type: "notice", text };
          history.push(answer.message);
          yield { type: "message", message: answer.message, usage: answer.usage };
        }
        state = yield* afterAnswer(answer, options, counters, finish, signal);
        break;
      }
      case "compacting": {
        counters.hasCompacted = true;
        const { trigger } = state;
        const outcome: Compacted = yield* compactHistory(history, state.compactor, { trigger }, signal);
        if (outcome.refusal === undefined) counters.usage = addUsage(counters.usage, outcome.usage);
        else if (trigger === "overflow" && !signal.aborted) {
          state = finish("error", outcome.refusal, { kind: "context_length", message: outcome.refusal });
          break;
        } else if (!signal.aborted) {
          counters.refusal = outcome.refusal;
          yield { type: "notice", text: outcome.refusal };
        }
        state = { type: "calling" };
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
        const steering = pending?.steering;
        history.push(resultsMessage(results, reminder, steering));
        yield {
          type: "round_end",
          ...(reminder ? { reminder } : {}),
          ...(steering ? { steering } : {}),
          ...(pending && pending.mail.length > 0 ? { mail: pending.mail } : {}),
        };
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
const SPEAK_REMINDER =
  "<system-reminder>Your turn ended without a word or a call. Go on with the work, or say in a sentence what was done.</system-reminder>";

async function* afterAnswer(
  answer: Answer,
  options: LoopOptions,
  counters: Counters,
  finish: (reason: LoopEndReason, text?: string, error?: Answer["error"]) => State,
  signal: AbortSignal,
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
  const text = messageText(message);
  const goOn = await options.beforeEnd?.(text, signal);
  // Behind nothing, it would be a second message of the user in a row.
  if (goOn === undefined || message.content.length === 0 || signal.aborted) return finish("end_turn", text);
  const more = userText(goOn);
  options.history.push(more);
  yield { type: "message", message: more };
  return { type: "calling" };
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
