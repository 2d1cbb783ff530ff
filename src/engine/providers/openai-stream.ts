import type { OpaqueBlock, ThinkingBlock, ToolUseBlock } from "../../protocol/message.ts";
import type { ModelEvent, StopReason, Usage } from "../../protocol/model.ts";
import { isRecord } from "../../protocol/record.ts";
import { type Answer, MessageDraft, type ParseContext, readAnswer, setInput } from "./answer.ts";
import { CallFragments, type PendingCall } from "./call-fragments.ts";
import { type TaggedText, ThinkTags } from "./think-tags.ts";
import { at, countAt, listAt, parseArguments, textAt } from "./wire.ts";

const STOP: Readonly<Record<string, StopReason>> = {
  stop: "end_turn",
  tool_calls: "tool_use",
  function_call: "tool_use",
  length: "max_tokens",
  model_length: "context",
  content_filter: "refusal",
};
/** The first that holds text is taken; its name is kept as the block's signature, so that it goes back in the same field. */
const REASONING_FIELDS = ["reasoning_content", "reasoning", "reasoning_text"] as const;

export function parseOpenAI(bytes: AsyncIterable<Uint8Array>, context: ParseContext): AsyncGenerator<ModelEvent> {
  return readAnswer(bytes, new OpenAIAnswer(context));
}

export class OpenAIAnswer implements Answer {
  isClosed = false;
  readonly #draft: MessageDraft;
  readonly #details: OpaqueBlock;
  readonly #tags = new ThinkTags();
  readonly #fragments = new CallFragments();
  /** The calls whose name is known to be whole. */
  readonly #announced = new Map<PendingCall, ToolUseBlock>();
  /** What Gemini adds to a call and wants back with it. */
  readonly #extras = new Map<PendingCall, Record<string, unknown>>();
  readonly #provider: string;
  readonly #count = { prompt: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  #finishReason = "";
  #refused = false;

  constructor(context: ParseContext) {
    this.#draft = new MessageDraft(context);
    this.#provider = context.provider;
    this.#details = { type: "opaque", provider: context.provider, raw: { reasoning_details: [] } };
  }

  get isComplete(): boolean {
    return this.isClosed || this.#finishReason !== "";
  }

  close(): void {
    this.isClosed = true;
  }

  *take(document: Record<string, unknown>): Generator<ModelEvent> {
    const choice = listAt(document, "choices")[0];
    this.#countUsage(isRecord(document.usage) ? document.usage : at(choice, "usage"));
    const delta = at(choice, "delta") ?? at(choice, "message");
    yield* this.#takeReasoning(delta);
    yield* this.#takeContent(delta);
    for (const fragment of listAt(delta, "tool_calls")) yield* this.#takeFragment(fragment);
    this.#finishReason ||= textAt(choice, "finish_reason");
  }

  *finish(): Generator<ModelEvent> {
    yield* this.#flushContent();
    for (const call of this.#fragments.calls) yield* this.#announce(call);
    for (const [pending, call] of this.#announced) {
      const input = parseArguments(pending.json);
      setInput(call, input, pending.json);
      const extra = this.#extras.get(pending);
      if (extra) this.#draft.content.push({ type: "opaque", provider: this.#provider, raw: { call_id: call.id, extra_content: extra } });
      yield { type: "tool_end", index: pending.index, id: call.id, name: call.name, input };
    }
    yield this.#draft.end(this.#stop(), this.#usage());
  }

  abandon(): ModelEvent {
    return this.#draft.end("error", this.#usage());
  }

  #stop(): StopReason {
    const reason = this.#finishReason || "stop";
    const stop = STOP[reason] ?? (`other:${reason}` as const);
    if (stop === "end_turn" && this.#refused) return "refusal";
    if (stop === "end_turn" && this.#draft.hasCalls) return "tool_use";
    return stop === "tool_use" && !this.#draft.hasCalls ? "end_turn" : stop;
  }

  *#takeReasoning(delta: unknown): Generator<ModelEvent> {
    for (const detail of listAt(delta, "reasoning_details")) this.#takeDetail(detail);
    const field = REASONING_FIELDS.find((name) => textAt(delta, name) !== "");
    if (!field) return;
    const text = textAt(delta, field);
    this.#addThinking(text, field);
    yield { type: "thinking", text };
  }

  /** Pieces of one detail have the same type and index; OpenRouter wants them back joined. */
  #takeDetail(detail: unknown): void {
    if (!isRecord(detail)) return;
    const details = at(this.#details.raw, "reasoning_details");
    if (!Array.isArray(details)) return;
    if (!this.#draft.content.includes(this.#details)) this.#draft.content.push(this.#details);
    const last: unknown = details.at(-1);
    if (!isRecord(last) || last.type !== detail.type || last.index !== detail.index) {
      details.push({ ...detail });
      return;
    }
    for (const [key, value] of Object.entries(detail)) {
      const isText = key === "text" || key === "summary" || key === "data";
      last[key] = isText && typeof value === "string" ? textAt(last, key) + value : (value ?? last[key]);
    }
  }

  #addThinking(text: string, field?: string): void {
    const last = this.#draft.content.findLast((block) => block !== this.#details);
    if (last?.type === "thinking" && last.signature === field) {
      last.text += text;
      return;
    }
    const block: ThinkingBlock = { type: "thinking", text };
    if (field) block.signature = field;
    this.#draft.content.push(block);
  }

  *#takeContent(delta: unknown): Generator<ModelEvent> {
    const refusal = textAt(delta, "refusal");
    this.#refused ||= refusal !== "";
    const text = contentText(at(delta, "content")) + refusal;
    if (text === "") return;
    yield* this.#announceAll();
    for (const piece of this.#tags.push(text)) yield this.#addTagged(piece);
  }

  *#flushContent(): Generator<ModelEvent> {
    for (const piece of this.#tags.flush()) yield this.#addTagged(piece);
  }

  #addTagged(piece: TaggedText): ModelEvent {
    if (piece.type === "text") this.#draft.text(piece.text);
    else this.#addThinking(piece.text);
    return piece;
  }

  /** A name may come in pieces, so a call is announced when its arguments begin, or when something else does. */
  *#takeFragment(fragment: unknown): Generator<ModelEvent> {
    yield* this.#flushContent();
    const { call, isNew, json } = this.#fragments.add(fragment);
    const extra = at(fragment, "extra_content");
    if (isRecord(extra)) this.#extras.set(call, extra);
    if (isNew) for (const earlier of this.#fragments.calls) if (earlier !== call) yield* this.#announce(earlier);
    if (json === "" || call.name === "") return;
    if (this.#announced.has(call)) yield { type: "tool_delta", index: call.index, json };
    else yield* this.#announce(call);
  }

  *#announceAll(): Generator<ModelEvent> {
    for (const call of this.#fragments.calls) yield* this.#announce(call);
  }

  *#announce(pending: PendingCall): Generator<ModelEvent> {
    if (this.#announced.has(pending)) return;
    const call = this.#draft.call(pending.wireId, pending.name || "unnamed");
    this.#announced.set(pending, call);
    yield { type: "tool_start", index: pending.index, id: call.id, name: call.name };
    if (pending.json !== "") yield { type: "tool_delta", index: pending.index, json: pending.json };
  }

  #countUsage(usage: unknown): void {
    const count = this.#count;
    count.prompt = countAt(usage, "prompt_tokens") ?? count.prompt;
    count.output = countAt(usage, "completion_tokens") ?? count.output;
    const details = at(usage, "prompt_tokens_details");
    count.cacheRead =
      countAt(details, "cached_tokens") ?? countAt(usage, "prompt_cache_hit_tokens") ?? countAt(usage, "cached_tokens") ?? count.cacheRead;
    count.cacheWrite = countAt(details, "cache_write_tokens") ?? count.cacheWrite;
  }

  /** Here the prompt contains what was read from and written to the cache. */
  #usage(): Usage {
    const { prompt, output, cacheRead, cacheWrite } = this.#count;
    return { input: Math.max(0, prompt - cacheRead - cacheWrite), output, cacheRead, cacheWrite };
  }
}

/** Text, or a list of parts of which some are text. */
function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  return listAt({ content }, "content")
    .map((part) => textAt(part, "text"))
    .join("");
}
