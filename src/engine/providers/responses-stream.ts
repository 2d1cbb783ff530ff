import type { OpaqueBlock, ToolUseBlock } from "../../protocol/message.ts";
import type { ModelEvent, StopReason, Usage } from "../../protocol/model.ts";
import { isRecord } from "../../protocol/record.ts";
import { type Answer, MessageDraft, type ParseContext, readAnswer, StreamError, setInput } from "./answer.ts";
import { serverFailure } from "./failure.ts";
import { at, countAt, listAt, parseArguments, textAt } from "./wire.ts";

const STOP: Readonly<Record<string, StopReason>> = { max_output_tokens: "max_tokens", max_tokens: "max_tokens", content_filter: "refusal" };

/** An item of the output while it arrives. */
type OpenItem =
  | { type: "message"; hasText: boolean }
  | { type: "call"; index: number; call: ToolUseBlock; json: string; isDone: boolean }
  /** Reasoning, and what the server's own tools did: kept as it is once it is whole. */
  | { type: "opaque"; block: OpaqueBlock };

export function parseResponses(bytes: AsyncIterable<Uint8Array>, context: ParseContext): AsyncGenerator<ModelEvent> {
  return readAnswer(bytes, new ResponsesAnswer(context));
}

export class ResponsesAnswer implements Answer {
  isClosed = false;
  isComplete = false;
  readonly #draft: MessageDraft;
  readonly #provider: string;
  readonly #items = new Map<unknown, OpenItem>();
  readonly #count = { prompt: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  #stopReason = "";
  #refused = false;
  #calls = 0;

  constructor(context: ParseContext) {
    this.#draft = new MessageDraft(context);
    this.#provider = context.provider;
  }

  /** A [DONE] ends the stream, but only the API's own last event ends the answer. */
  close(): void {
    this.isClosed = true;
  }

  *take(document: Record<string, unknown>): Generator<ModelEvent> {
    switch (document.type) {
      case "response.output_item.added":
        return yield* this.#open(placeOf(document), document.item);
      case "response.output_text.delta":
      case "response.refusal.delta":
        this.#refused ||= document.type === "response.refusal.delta";
        return yield* this.#text(placeOf(document), textAt(document, "delta"));
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        if (textAt(document, "delta") !== "") yield { type: "thinking", text: textAt(document, "delta") };
        return;
      case "response.reasoning_summary_part.added":
        // Parts of a summary are paragraphs.
        if (Number(document.summary_index) > 0) yield { type: "thinking", text: "\n\n" };
        return;
      case "response.function_call_arguments.delta":
        return yield* this.#extend(placeOf(document), textAt(document, "delta"));
      case "response.output_item.done":
        return yield* this.#close(placeOf(document), document.item);
      case "response.completed":
      case "response.incomplete":
        return yield* this.#end(document.response);
      case "response.failed":
        this.#countUsage(at(document, "response", "usage"));
        throw new StreamError(serverFailure(at(document, "response", "error")));
      case "error":
        throw new StreamError(serverFailure(document));
    }
  }

  *finish(): Generator<ModelEvent> {
    for (const item of this.#items.values()) if (item.type === "call") yield* this.#finishCall(item);
    this.#dropUnfilled();
    yield this.#draft.end(this.#stop(), this.#usage());
  }

  abandon(): ModelEvent {
    return this.#draft.end("error", this.#usage());
  }

  #stop(): StopReason {
    if (this.#stopReason !== "") return STOP[this.#stopReason] ?? `other:${this.#stopReason}`;
    if (this.#refused) return "refusal";
    return this.#draft.hasCalls ? "tool_use" : "end_turn";
  }

  *#open(place: unknown, item: unknown): Generator<ModelEvent> {
    if (this.#items.has(place)) return;
    switch (at(item, "type")) {
      case "message":
        this.#draft.breakText();
        this.#items.set(place, { type: "message", hasText: false });
        return;
      case "function_call": {
        const call = this.#draft.call(textAt(item, "call_id") || textAt(item, "id"), textAt(item, "name") || "unnamed");
        this.#items.set(place, { type: "call", index: this.#calls, call, json: "", isDone: false });
        yield { type: "tool_start", index: this.#calls, id: call.id, name: call.name };
        this.#calls += 1;
        return;
      }
      default: {
        if (!isRecord(item)) return;
        // The place is taken now, because reasoning belongs before what comes of it.
        const block: OpaqueBlock = { type: "opaque", provider: this.#provider, raw: undefined };
        this.#draft.content.push(block);
        this.#items.set(place, { type: "opaque", block });
      }
    }
  }

  *#text(place: unknown, text: string): Generator<ModelEvent> {
    if (text === "") return;
    const item = this.#items.get(place);
    if (item?.type === "message") item.hasText = true;
    this.#draft.text(text);
    yield { type: "text", text };
  }

  *#extend(place: unknown, json: string): Generator<ModelEvent> {
    const item = this.#items.get(place);
    if (item?.type !== "call" || item.isDone || json === "") return;
    item.json += json;
    yield { type: "tool_delta", index: item.index, json };
  }

  /** The item as a whole: what some servers send without its pieces before. */
  *#close(place: unknown, given: unknown): Generator<ModelEvent> {
    yield* this.#open(place, given);
    const item = this.#items.get(place);
    if (item?.type === "message" && !item.hasText) {
      this.#refused ||= listAt(given, "content").some((part) => at(part, "type") === "refusal");
      for (const part of listAt(given, "content")) yield* this.#text(place, textAt(part, "text") || textAt(part, "refusal"));
    }
    if (item?.type === "call") {
      if (item.json === "") yield* this.#extend(place, argumentsOf(given));
      yield* this.#finishCall(item);
    }
    if (item?.type === "opaque") item.block.raw = given;
  }

  *#finishCall(item: OpenItem & { type: "call" }): Generator<ModelEvent> {
    if (item.isDone) return;
    item.isDone = true;
    const input = parseArguments(item.json);
    setInput(item.call, input, item.json);
    yield { type: "tool_end", index: item.index, id: item.call.id, name: item.call.name, input };
  }

  *#end(response: unknown): Generator<ModelEvent> {
    // Only what did not come by itself: the list repeats the whole output.
    if (this.#items.size === 0) for (const [index, item] of listAt(response, "output").entries()) yield* this.#close(index, item);
    this.#countUsage(at(response, "usage"));
    const reason = textAt(response, "incomplete_details", "reason");
    this.#stopReason = reason || (textAt(response, "status") === "incomplete" ? "incomplete" : "");
    this.isComplete = true;
    this.isClosed = true;
  }

  #dropUnfilled(): void {
    const { content } = this.#draft;
    for (let index = content.length - 1; index >= 0; index--) {
      const block = content[index];
      if (block?.type === "opaque" && block.raw === undefined) content.splice(index, 1);
    }
  }

  #countUsage(usage: unknown): void {
    const count = this.#count;
    count.prompt = countAt(usage, "input_tokens") ?? count.prompt;
    count.output = countAt(usage, "output_tokens") ?? count.output;
    count.cacheRead = countAt(usage, "input_tokens_details", "cached_tokens") ?? count.cacheRead;
    count.cacheWrite = countAt(usage, "input_tokens_details", "cache_write_tokens") ?? count.cacheWrite;
  }

  /** Here the prompt contains what was read from and written to the cache. */
  #usage(): Usage {
    const { prompt, output, cacheRead, cacheWrite } = this.#count;
    return { input: Math.max(0, prompt - cacheRead - cacheWrite), output, cacheRead, cacheWrite };
  }
}

function placeOf(document: Record<string, unknown>): unknown {
  return document.output_index ?? document.item_id ?? at(document.item, "id");
}

function argumentsOf(item: unknown): string {
  const given = at(item, "arguments");
  return isRecord(given) ? JSON.stringify(given) : textAt(item, "arguments");
}
