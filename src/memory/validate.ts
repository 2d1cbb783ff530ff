import type { AssistantMessage, Message, ToolResultBlock, ToolUseBlock, UserMessage } from "../protocol/message.ts";
import { NO_ANSWER, toolCalls, userText } from "../protocol/message.ts";
import { resultBlock, UNKNOWN_END } from "../protocol/results.ts";
import { errorResult } from "../protocol/tool.ts";

const MAX_NAMED = 20;
const MAX_INPUT = 120;

export type Validated = { history: readonly Message[]; notes: string[] };

/**
 * A history that every provider takes. A valid one comes back as the same array. Open calls of the last round are answered
 * with an honest error; any other fault cuts back to the last complete round, and a reminder for the model names the calls
 * that were cut off, so that it does not repeat blindly what they did.
 */
export function validateHistory(history: readonly Message[]): Validated {
  const fault = firstFault(history, 0);
  if (!fault) return { history, notes: [] };
  const spaced = withGaps(history);
  const left = firstFault(spaced, 0);
  if (!left) return { history: spaced, notes: ["Marked a turn that was never answered."] };

  const mended = mendLastRound(spaced, left.complete);
  if (mended && !firstFault(mended.history, 0)) return mended;

  const cut = spaced.slice(left.complete);
  const lost = cut.flatMap((message) => (message.role === "assistant" ? toolCalls(message) : []));
  const note = `Cut the last ${cut.length} messages of the conversation: ${left.text}.${lost.length > 0 ? ` Calls cut off: ${callNames(lost)}; they may have taken effect.` : ""}`;
  return { history: remindOfCut(spaced.slice(0, left.complete), lost), notes: [note] };
}

/** What a provider would refuse, in words; undefined when all is well. Messages before `from` are taken as checked. */
export function findFault(history: readonly Message[], from = 0): string | undefined {
  return firstFault(history, from)?.text;
}

/** Puts a reminder of calls whose rounds are gone where the model reads it: inside the last result, behind a prompt, or by itself. */
export function remindOfCut(history: readonly Message[], lost: readonly ToolUseBlock[]): readonly Message[] {
  if (lost.length === 0) return history;
  const text = `<system-reminder>A part of this conversation was lost. These calls of yours stood in it and may have taken effect; check before you repeat one:\n${callNames(lost)}</system-reminder>`;
  const last = history.at(-1);
  if (last?.role !== "user") return [...history, userText(text)];
  const block = last.content.at(-1);
  const reminder = { type: "text" as const, text };
  const content =
    block?.type === "tool_result"
      ? [...last.content.slice(0, -1), { ...block, content: [...block.content, reminder] }]
      : [...last.content, reminder];
  return [...history.slice(0, -1), { ...last, content }];
}

/** What a person or a model needs to recognise the calls. */
function callNames(calls: readonly ToolUseBlock[]): string {
  // What looks like a tag would end the reminder that this stands in.
  const named = calls
    .slice(0, MAX_NAMED)
    .map((call) => `${call.name}(${JSON.stringify(call.input).slice(0, MAX_INPUT)})`.replaceAll("<", "\\u003c"));
  return [...named, ...(calls.length > MAX_NAMED ? [`and ${calls.length - MAX_NAMED} more`] : [])].join(", ");
}

/** An assistant message that the server paused: the next answer goes on with it, so no user message stands between. */
export function isPaused(message: Message): boolean {
  return (
    message.role === "assistant" &&
    toolCalls(message).length === 0 &&
    message.content.some((block) => block.type === "opaque" && !isRedactedThinking(block.raw))
  );
}

function isRedactedThinking(raw: unknown): boolean {
  return typeof raw === "object" && raw !== null && "type" in raw && raw.type === "redacted_thinking";
}

/** The person spoke twice and nothing stands between. Behind results a message may follow: the loop puts some there. */
export function needsGap(before: Message | undefined, message: Message): boolean {
  return before?.role === "user" && message.role === "user" && !before.content.some((block) => block.type === "tool_result");
}

export function gap(): AssistantMessage {
  return { role: "assistant", provider: "", model: "", content: [{ type: "text", text: NO_ANSWER }] };
}

/** `complete`: how many messages stand before it as whole rounds. */
type Fault = { text: string; complete: number };

function firstFault(history: readonly Message[], from: number): Fault | undefined {
  const used = new Set<string>();
  let open: readonly ToolUseBlock[] = [];
  let complete = 0;
  for (let index = 0; index < history.length; index += 1) {
    const message = history[index];
    if (!message) break;
    const text = index < from ? undefined : faultOf(message, history[index - 1], open, used);
    if (text) return { text: `message ${index + 1}: ${text}`, complete };
    open = message.role === "assistant" ? toolCalls(message) : [];
    for (const call of open) used.add(call.id);
    if (open.length === 0) complete = index + 1;
  }
  return open.length > 0 ? { text: `no result for ${ids(open)}`, complete } : undefined;
}

function faultOf(
  message: Message,
  before: Message | undefined,
  open: readonly ToolUseBlock[],
  used: ReadonlySet<string>,
): string | undefined {
  if (message.content.length === 0) return "it is empty";
  if (message.role === "user") return faultOfUser(message, before, open);
  if (!before) return "an answer stands first";
  if (open.length > 0) return `no result for ${ids(open)}`;
  if (before.role === "assistant" && !isPaused(before)) return "two answers in a row";
  return faultOfAssistant(message, used);
}

export function faultOfAssistant(message: AssistantMessage, used: ReadonlySet<string>): string | undefined {
  const own = new Set<string>();
  for (const block of message.content) {
    if (!ASSISTANT_BLOCKS.has(block.type)) return `a ${block.type} block in an answer`;
    if (block.type !== "tool_use") continue;
    if (block.id === "") return "a call without an id";
    if (used.has(block.id) || own.has(block.id)) return `the call id ${block.id} is used twice`;
    if (typeof block.input !== "object" || block.input === null || Array.isArray(block.input))
      return `the input of ${block.id} is no object`;
    own.add(block.id);
  }
  return undefined;
}

const ASSISTANT_BLOCKS: ReadonlySet<string> = new Set(["text", "thinking", "opaque", "tool_use"]);
const USER_BLOCKS: ReadonlySet<string> = new Set(["text", "image", "tool_result"]);

function faultOfUser(message: UserMessage, before: Message | undefined, open: readonly ToolUseBlock[]): string | undefined {
  const stranger = message.content.find((block) => !USER_BLOCKS.has(block.type));
  if (stranger) return `a ${stranger.type} block in a message of the user`;
  const results = message.content.filter((block) => block.type === "tool_result");
  const answered = results.map((result) => result.toolUseId);
  if (answered.join("\n") !== open.map((call) => call.id).join("\n")) {
    const orphan = answered.find((id) => !open.some((call) => call.id === id));
    if (orphan !== undefined) return `a result without its call (${orphan})`;
    const missing = open.filter((call) => !answered.includes(call.id));
    return missing.length > 0 ? `no result for ${ids(missing)}` : "results that are doubled or in another order than their calls";
  }
  if (results.some((result, index) => message.content[index] !== result)) return "something stands before a result";
  if (results.length === 0 && !message.content.some(isVisible)) return "it is empty";
  return needsGap(before, message) ? "two messages of the user in a row" : undefined;
}

/** Providers drop blank text; a message of nothing else would not be there. */
export function isVisible(block: UserMessage["content"][number]): boolean {
  return block.type !== "text" || block.text.trim() !== "";
}

function ids(calls: readonly ToolUseBlock[]): string {
  return calls.map((call) => call.id).join(", ");
}

function withGaps(history: readonly Message[]): Message[] {
  return history.flatMap((message, index) => (needsGap(history[index - 1], message) ? [gap(), message] : [message]));
}

/** The last round made whole: each call has its one result, in their order, and what else the message held stands behind them. */
function mendLastRound(history: readonly Message[], complete: number): Validated | undefined {
  const last = history[complete];
  if (last?.role !== "assistant" || complete < history.length - 2) return undefined;
  const answer = history[complete + 1];
  if (answer && answer.role !== "user") return undefined;
  const content = answer?.content ?? [];
  const known = new Map<string, ToolResultBlock>();
  for (const block of content) if (block.type === "tool_result" && !known.has(block.toolUseId)) known.set(block.toolUseId, block);
  const calls = toolCalls(last);
  const missing = calls.filter((call) => !known.has(call.id));
  const results = calls.map((call) => known.get(call.id) ?? resultBlock(call, errorResult(UNKNOWN_END)));
  const rest = content.filter((block) => block.type !== "tool_result" && USER_BLOCKS.has(block.type) && isVisible(block));
  const note = missing.length > 0 ? answeredNote(missing) : "Put the results of the last round in order.";
  return { history: [...history.slice(0, complete + 1), { role: "user", content: [...results, ...rest] }], notes: [note] };
}

export function answeredNote(calls: readonly ToolUseBlock[]): string {
  return `Answered ${calls.length === 1 ? "a call" : `${calls.length} calls`} whose end is unknown: ${callNames(calls)}.`;
}

export function cutNote(calls: readonly ToolUseBlock[]): string {
  return `Cut an incomplete round with the calls ${callNames(calls)}; they may have taken effect.`;
}
