import type { ThinkingBlock, ToolUseBlock } from "../../protocol/message.ts";
import type { ModelEvent, StopReason, Usage } from "../../protocol/model.ts";
import { isRecord } from "../../protocol/record.ts";
import { type Answer, MessageDraft, type ParseContext, readAnswer, setInput } from "./answer.ts";
import { at, countAt, parseArguments, textAt } from "./wire.ts";

const STOP: Readonly<Record<string, StopReason>> = {
  end_turn: "end_turn",
  stop_sequence: "stop_sequence",
  tool_use: "tool_use",
  max_tokens: "max_tokens",
  model_context_window_exceeded: "context",
  pause_turn: "pause",
  refusal: "refusal",
};

type OpenBlock =
  | { type: "text" }
  | { type: "thinking"; block: ThinkingBlock }
  | { type: "call"; index: number; call: ToolUseBlock; given: unknown; json: string }
  /** `isWhole` is false once a piece came that nobody here can put together: such a block is not kept. */
  | { type: "opaque"; raw: Record<string, unknown>; json: string; isWhole: boolean };

export function parseAnthropic(bytes: AsyncIterable<Uint8Array>, context: ParseContext): AsyncGenerator<ModelEvent> {
  return readAnswer(bytes, new AnthropicAnswer(context));
}

export class AnthropicAnswer implements Answer {
  isClosed = false;
  readonly #draft: MessageDraft;
  readonly #provider: string;
  readonly #open = new Map<number, OpenBlock>();
  readonly #usage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  #stopReason = "";
  #calls = 0;

  constructor(context: ParseContext) {
    this.#draft = new MessageDraft(context);
    this.#provider = context.provider;
  }

  get isComplete(): boolean {
    return this.#stopReason !== "";
  }

  close(): void {
    this.isClosed = true;
  }

  *take(document: Record<string, unknown>): Generator<ModelEvent> {
    const index = Number(document.index);
    switch (document.type) {
      case "message_start":
        return this.#count(at(document, "message", "usage"));
      case "content_block_start":
        yield* this.#closeBlock(index);
        return yield* this.#openBlock(index, document.content_block);
      case "content_block_delta":
        return yield* this.#extendBlock(index, document.delta);
      case "content_block_stop":
        return yield* this.#closeBlock(index);
      case "message_delta":
        this.#stopReason = textAt(document, "delta", "stop_reason") || this.#stopReason;
        return this.#count(document.usage);
      case "message_stop":
        this.isClosed = true;
    }
  }

  *finish(): Generator<ModelEvent> {
    for (const index of [...this.#open.keys()]) yield* this.#closeBlock(index);
    yield this.#draft.end(this.#stop(), this.#usage);
  }

  abandon(): ModelEvent {
    return this.#draft.end("error", this.#usage);
  }

  /** Some gateways say end_turn in spite of calls. */
  #stop(): StopReason {
    const stop = STOP[this.#stopReason] ?? (`other:${this.#stopReason}` as const);
    if (stop === "end_turn" && this.#draft.hasCalls) return "tool_use";
    return stop === "tool_use" && !this.#draft.hasCalls ? "end_turn" : stop;
  }

  *#openBlock(index: number, block: unknown): Generator<ModelEvent> {
    switch (at(block, "type")) {
      case "text": {
        this.#open.set(index, { type: "text" });
        this.#draft.breakText();
        return yield* this.#text(textAt(block, "text"));
      }
      case "thinking": {
        const thinking: ThinkingBlock = { type: "thinking", text: textAt(block, "thinking") };
        const signature = textAt(block, "signature");
        if (signature) thinking.signature = signature;
        this.#draft.content.push(thinking);
        this.#open.set(index, { type: "thinking", block: thinking });
        if (thinking.text) yield { type: "thinking", text: thinking.text };
        return;
      }
      case "tool_use": {
        const call = this.#draft.call(textAt(block, "id"), textAt(block, "name") || "unnamed");
        this.#open.set(index, { type: "call", index: this.#calls, call, given: at(block, "input"), json: "" });
        yield { type: "tool_start", index: this.#calls, id: call.id, name: call.name };
        this.#calls += 1;
        return;
      }
      default:
        if (isRecord(block)) this.#open.set(index, { type: "opaque", raw: { ...block }, json: "", isWhole: true });
    }
  }

  *#extendBlock(index: number, delta: unknown): Generator<ModelEvent> {
    const open = this.#open.get(index);
    const type = textAt(delta, "type");
    if (type === "text_delta" && (open === undefined || open.type === "text")) return yield* this.#text(textAt(delta, "text"));
    if (open?.type === "thinking") {
      const text = type === "thinking_delta" ? textAt(delta, "thinking") : "";
      open.block.text += text;
      if (text) yield { type: "thinking", text };
      if (type === "signature_delta") open.block.signature = (open.block.signature ?? "") + textAt(delta, "signature");
    }
    if (open?.type === "call" && type === "input_json_delta") {
      const json = textAt(delta, "partial_json");
      open.json += json;
      if (json) yield { type: "tool_delta", index: open.index, json };
    }
    if (open?.type === "opaque") {
      if (type === "input_json_delta") open.json += textAt(delta, "partial_json");
      else open.isWhole = false;
    }
  }

  *#closeBlock(index: number): Generator<ModelEvent> {
    const open = this.#open.get(index);
    this.#open.delete(index);
    if (open?.type === "opaque") return this.#keep(open);
    if (open?.type !== "call") return;
    // The input may stand whole in the block's start, without any delta.
    if (open.json === "" && isRecord(open.given) && Object.keys(open.given).length > 0) {
      open.json = JSON.stringify(open.given);
      yield { type: "tool_delta", index: open.index, json: open.json };
    }
    const input = parseArguments(open.json);
    setInput(open.call, input, open.json);
    yield { type: "tool_end", index: open.index, id: open.call.id, name: open.call.name, input };
  }

  #keep(open: OpenBlock & { type: "opaque" }): void {
    if (!open.isWhole) return;
    const raw = open.json === "" ? open.raw : { ...open.raw, input: parseArguments(open.json) ?? {} };
    this.#draft.content.push({ type: "opaque", provider: this.#provider, raw });
  }

  *#text(text: string): Generator<ModelEvent> {
    if (text === "") return;
    this.#draft.text(text);
    yield { type: "text", text };
  }

  /** Counts are cumulative, and a 0 never wipes one. */
  #count(usage: unknown): void {
    this.#usage.input = countAt(usage, "input_tokens") ?? this.#usage.input;
    this.#usage.output = countAt(usage, "output_tokens") ?? this.#usage.output;
    this.#usage.cacheRead = countAt(usage, "cache_read_input_tokens") ?? this.#usage.cacheRead;
    this.#usage.cacheWrite = countAt(usage, "cache_creation_input_tokens") ?? this.#usage.cacheWrite;
  }
}
