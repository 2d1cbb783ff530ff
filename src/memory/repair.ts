import type { AssistantMessage, Message, ToolResultBlock, ToolUseBlock, UserMessage } from "../protocol/message.ts";
import { toolCalls, userText } from "../protocol/message.ts";
import { resultBlock, resultsMessage, UNKNOWN_END } from "../protocol/results.ts";
import type { SessionEntry } from "../protocol/session.ts";
import { errorResult } from "../protocol/tool.ts";
import { answeredNote, cutNote, faultOfAssistant, gap, isPaused, isVisible, needsGap, remindOfCut, validateHistory } from "./validate.ts";

const LOST_MESSAGE = "[A message stood here; its record in the session's file was damaged.]";

export type Rebuilt = {
  history: Message[];
  /** Entries to append to the file, so that it holds what the history holds. */
  added: SessionEntry[];
  notes: string[];
};

/**
 * Entries of a session file into a legal history: results fold into one user message a round, in the order of the calls.
 * Open calls of the last round are answered with an honest error; a round that lost one of its results is cut, and both the
 * person and the model are told its calls. What the loop writes comes back as it was sent.
 */
export function rebuildHistory(entries: Iterable<SessionEntry>): Rebuilt {
  const fold = new Fold();
  for (const entry of entries) fold.take(entry);
  return fold.end();
}

type OpenRound = { message: AssistantMessage; calls: readonly ToolUseBlock[]; results: Map<string, ToolResultBlock> };

class Fold {
  #history: Message[] = [];
  #open: OpenRound | undefined;
  readonly #usedIds = new Set<string>();
  readonly #notes: string[] = [];
  readonly #cut: ToolUseBlock[] = [];
  #orphans = 0;

  take(entry: SessionEntry): void {
    switch (entry.type) {
      case "header":
      case "name":
      case "mode":
      case "checkpoint":
      case "spent":
      case "tools_added":
        break;
      case "compaction":
      case "rewind":
        this.#replace(entry.history);
        break;
      case "message":
        if (entry.message.role === "assistant") {
          this.#closeRound();
          this.#assistant(entry.message);
        } else this.#user(entry.message);
        break;
      case "tool_result":
        this.#result(entry.result);
        break;
      case "round_end":
        if (this.#open) this.#closeRound(entry.reminder, entry.steering);
        // Its round is gone, but not what the person said.
        else if (entry.steering !== undefined) this.#user(userText(entry.steering));
        break;
    }
  }

  end(): Rebuilt {
    if (this.#orphans > 0) this.#notes.push(`Dropped ${this.#orphans === 1 ? "a result" : `${this.#orphans} results`} without a call.`);
    const added = this.#answerOpen();
    const valid = validateHistory(remindOfCut(this.#history, this.#cut));
    this.#notes.push(...valid.notes);
    const history = [...valid.history];
    if (valid.notes.length + this.#cut.length === 0) return { history, added, notes: this.#notes };
    // A history that can't be had from the lines again stands in the file as it is.
    return { history, added: [{ type: "rewind", at: new Date().toISOString(), history }], notes: this.#notes };
  }

  #replace(history: readonly Message[]): void {
    this.#history = [...history];
    this.#open = undefined;
    this.#cut.length = 0;
    this.#notes.length = 0;
    this.#orphans = 0;
    this.#usedIds.clear();
    for (const message of history) if (message.role === "assistant") for (const call of toolCalls(message)) this.#usedIds.add(call.id);
  }

  #assistant(message: AssistantMessage): void {
    if (message.content.length === 0) return;
    const fault = faultOfAssistant(message, this.#usedIds);
    if (fault) {
      this.#notes.push(`Dropped an answer: ${fault}.`);
      return;
    }
    const last = this.#history.at(-1);
    if (!last || (last.role === "assistant" && !isPaused(last))) this.#history.push(userText(LOST_MESSAGE));
    this.#history.push(message);
    const calls = toolCalls(message);
    for (const call of calls) this.#usedIds.add(call.id);
    if (calls.length > 0) this.#open = { message, calls, results: new Map() };
  }

  #user(message: UserMessage): void {
    for (const block of message.content) if (block.type === "tool_result") this.#result(block);
    this.#closeRound();
    const content = message.content.filter((block) => block.type !== "tool_result");
    if (!content.some(isVisible)) return;
    const words: UserMessage = content.length === message.content.length ? message : { role: "user", content };
    if (needsGap(this.#history.at(-1), words)) this.#history.push(gap());
    this.#history.push(words);
  }

  #result(result: ToolResultBlock): void {
    const { toolUseId } = result;
    if (this.#open?.calls.some((call) => call.id === toolUseId) && !this.#open.results.has(toolUseId))
      this.#open.results.set(toolUseId, result);
    else this.#orphans += 1;
  }

  /** With all its results there, a round is whole even if its end was not written. */
  #closeRound(reminder?: string, steering?: string): void {
    if (!this.#open) return;
    const { calls, results } = this.#open;
    this.#open = undefined;
    const ordered = calls.flatMap((call) => results.get(call.id) ?? []);
    if (ordered.length === calls.length) {
      this.#history.push(resultsMessage(ordered, reminder, steering));
      return;
    }
    this.#notes.push(cutNote(calls));
    this.#cut.push(...calls);
    this.#history.pop();
    if (steering !== undefined) this.#user(userText(steering));
  }

  #answerOpen(): SessionEntry[] {
    if (!this.#open) return [];
    const { calls, results } = this.#open;
    const at = new Date().toISOString();
    const added: SessionEntry[] = [];
    const missing = calls.filter((call) => !results.has(call.id));
    for (const call of missing) {
      const result = resultBlock(call, errorResult(UNKNOWN_END));
      results.set(call.id, result);
      added.push({ type: "tool_result", at, result });
    }
    added.push({ type: "round_end", at });
    this.#closeRound();
    if (missing.length > 0) this.#notes.push(answeredNote(missing));
    return added;
  }
}
