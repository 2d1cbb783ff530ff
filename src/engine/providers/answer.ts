import type { AssistantMessage, ToolUseBlock } from "../../protocol/message.ts";
import type { ModelEvent, StopReason, Usage } from "../../protocol/model.ts";
import { isRecord } from "../../protocol/record.ts";
import { failure, type ModelFailure, networkFailure, serverFailure, strayFailure } from "./failure.ts";
import { sseFrames } from "./sse.ts";
import { at, parseJson } from "./wire.ts";

/** Who answers; `usedIds` are the call ids of the history, none of which may come again. */
export type ParseContext = { provider: string; model: string; usedIds?: ReadonlySet<string> };

/** What one protocol makes of its documents while an answer arrives. */
export interface Answer {
  take(document: Record<string, unknown>): Iterable<ModelEvent>;
  /** The protocol's closing mark came; nothing after it is read. */
  readonly isClosed: boolean;
  /** The server said why it stopped: an end of the stream is an end of the message. */
  readonly isComplete: boolean;
  close(): void;
  /** The events that are left, `end` among them. */
  finish(): Iterable<ModelEvent>;
  /** `end` for an attempt that failed: its message holds the text that came, and no call. */
  abandon(): ModelEvent;
}

/** Reads a stream to its proper end; anything less is an `error` event. */
export async function* readAnswer(bytes: AsyncIterable<Uint8Array>, answer: Answer): AsyncGenerator<ModelEvent> {
  let failed: ModelFailure | undefined;
  let stray = "";
  try {
    for await (const frame of sseFrames(bytes)) {
      if (frame.type === "stray") {
        if (stray.length < 10_000) stray += `${frame.line}\n`;
        continue;
      }
      if (frame.data === "[DONE]") {
        answer.close();
        break;
      }
      const document = parseJson(frame.data);
      if (document === undefined && frame.data.trim() !== "" && frame.terminated && !answer.isComplete) {
        failed = failure("parse", `A frame of the stream is no JSON: ${frame.data.slice(0, 200)}`);
        break;
      }
      if (!isRecord(document)) continue;
      const error = at(document, "error");
      if (error !== undefined && error !== null) {
        failed = serverFailure(error);
        break;
      }
      yield* answer.take(document);
      if (answer.isClosed) break;
    }
  } catch (error) {
    failed = error instanceof StreamError ? error.failure : { ...networkFailure(error, "the server"), retryable: true };
  }
  if (!failed && !answer.isComplete) {
    failed = stray === "" ? failure("truncated", "The stream ended before the answer was complete.") : strayFailure(stray);
  }
  if (failed) yield { type: "error", ...failed };
  if (failed) yield answer.abandon();
  else yield* answer.finish();
}

/** Thrown by a source of bytes that knows what went wrong. */
export class StreamError extends Error {
  override readonly name = "StreamError";
  readonly failure: ModelFailure;
  constructor(failed: ModelFailure) {
    super(failed.text);
    this.failure = failed;
  }
}

/** The assistant message as it grows. */
export class MessageDraft {
  readonly content: AssistantMessage["content"] = [];
  readonly #context: ParseContext;
  readonly #ids = new Set<string>();
  #breaksText = false;

  constructor(context: ParseContext) {
    this.#context = context;
  }

  /** What comes next is a block of its own: signed thinking covers the blocks as they were. */
  breakText(): void {
    this.#breaksText = true;
  }

  text(text: string): void {
    const last = this.content.at(-1);
    if (last?.type === "text" && !this.#breaksText) last.text += text;
    else this.content.push({ type: "text", text });
    this.#breaksText = false;
  }

  call(id: string, name: string): ToolUseBlock {
    const call: ToolUseBlock = { type: "tool_use", id: this.#uniqueId(id), name, input: {} };
    this.content.push(call);
    return call;
  }

  /** The second of two calls with one id gets another: the next request would be refused, or answered wrongly. */
  #uniqueId(wanted: string): string {
    const taken = wanted === "" || this.#ids.has(wanted) || this.#context.usedIds?.has(wanted);
    const id = taken ? `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}` : wanted;
    this.#ids.add(id);
    return id;
  }

  get hasCalls(): boolean {
    return this.content.some((block) => block.type === "tool_use");
  }

  end(stop: StopReason, usage: Usage): ModelEvent {
    const content = stop === "error" ? this.content.filter((block) => block.type === "text") : this.content;
    return {
      type: "end",
      stop,
      usage,
      message: { role: "assistant", provider: this.#context.provider, model: this.#context.model, content },
    };
  }
}

/** Fills in a call's input; what is no JSON object is kept as text, so that the model can be told. */
export function setInput(call: ToolUseBlock, input: Record<string, unknown> | null, json: string): void {
  if (input) call.input = input;
  else call.malformed = json;
}
