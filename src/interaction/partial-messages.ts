import type { AgentEvent } from "../protocol/agent.ts";
import type { AssistantMessage } from "../protocol/message.ts";

type Kind = "text" | "thinking";

/** An answer while it is written, as the events of Anthropic's API: for `--include-partial-messages`. */
export class PartialMessages {
  readonly #model: string;
  #isStarted = false;
  #index = 0;
  #open: Kind | undefined;

  constructor(model: string) {
    this.#model = model;
  }

  /** What this event adds; nothing for most. */
  of(event: AgentEvent): object[] {
    switch (event.type) {
      case "stream_text":
        return this.#delta("text", { type: "text_delta", text: event.text });
      case "stream_thinking":
        return this.#delta("thinking", { type: "thinking_delta", thinking: event.text });
      case "message":
        return event.message.role === "assistant" ? this.#end(event.message) : [];
      case "attempt_reset":
        // It begins again with another message_start.
        this.#reset();
        return [];
      default:
        return [];
    }
  }

  #delta(kind: Kind, delta: object): object[] {
    const start = this.#open === kind ? [] : [...this.#start(), ...this.#close(), this.#block(kind)];
    this.#open = kind;
    return [...start, { type: "content_block_delta", index: this.#index, delta }];
  }

  #start(): object[] {
    if (this.#isStarted) return [];
    this.#isStarted = true;
    return [{ type: "message_start", message: { type: "message", role: "assistant", model: this.#model, content: [] } }];
  }

  #block(kind: Kind): object {
    const content = kind === "text" ? { type: "text", text: "" } : { type: "thinking", thinking: "", signature: "" };
    return { type: "content_block_start", index: this.#index, content_block: content };
  }

  #close(): object[] {
    if (!this.#open) return [];
    this.#open = undefined;
    const stop = { type: "content_block_stop", index: this.#index };
    this.#index += 1;
    return [stop];
  }

  #end({ content }: AssistantMessage): object[] {
    const calls = content.filter((block) => block.type === "tool_use");
    const events = [...this.#start(), ...this.#close()];
    for (const { id, name, input } of calls) {
      const index = this.#index;
      this.#index += 1;
      events.push(
        { type: "content_block_start", index, content_block: { type: "tool_use", id, name, input: {} } },
        { type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: JSON.stringify(input) } },
        { type: "content_block_stop", index },
      );
    }
    const reason = calls.length > 0 ? "tool_use" : "end_turn";
    this.#reset();
    return [...events, { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null } }, { type: "message_stop" }];
  }

  #reset(): void {
    this.#isStarted = false;
    this.#index = 0;
    this.#open = undefined;
  }
}
