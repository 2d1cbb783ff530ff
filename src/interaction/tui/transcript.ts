import { Container, Spacer } from "@earendil-works/pi-tui";
import type { AgentEvent } from "../../protocol/agent.ts";
import { resultText } from "../../protocol/tool.ts";
import { retryText } from "../../team/agent-presence.ts";
import { compactedText } from "../compacted-text.ts";
import type { Earlier } from "../earlier-messages.ts";
import { endText } from "../print.ts";
import { firstLine, shortInput, visible } from "../visible.ts";
import { MarkdownStream } from "./markdown-stream.ts";
import { TextBlock } from "./text-block.ts";
import type { Theme } from "./theme.ts";
import { ToolBlock } from "./tool-block.ts";

/** What was said and done, in its order. Only the last block of each agent still changes. */
export class Transcript extends Container {
  readonly #theme: Theme;
  #answer: MarkdownStream | undefined;
  #hasThinking = false;
  readonly #calls = new Map<string, ToolBlock>();
  #lastTool: ToolBlock | undefined;
  #lastLine = "";
  /** The last block was a plain line: such stand together. */
  #isLines = false;

  constructor(theme: Theme) {
    super();
    this.#theme = theme;
  }

  override clear(): void {
    super.clear();
    this.#answer = undefined;
    this.#calls.clear();
    this.#lastTool = undefined;
  }

  user(text: string): void {
    const { user } = this.#theme;
    this.#add(new TextBlock(visible(text), user, "› "));
  }

  line(text: string, paint: (line: string) => string = (line) => line): void {
    this.#lastLine = text;
    this.#add(new TextBlock(visible(text), paint), true);
  }

  markdown(text: string): void {
    const block = new MarkdownStream(this.#theme);
    block.push(visible(text));
    this.#add(block);
  }

  earlier({ hidden, parts }: Earlier): void {
    if (hidden > 0) this.dim(`… ${hidden} earlier messages`);
    for (const part of parts) {
      if (part.type === "user") this.user(part.text);
      else if (part.type === "image") this.user("[image]");
      else if (part.type === "assistant") this.markdown(part.text);
      else if (part.type === "note") this.dim(part.text);
      else if (part.type === "call") {
        const block = new ToolBlock(part.call, this.#theme);
        this.#add(block);
        if (part.result) block.end(part.result);
        else block.cut();
      }
    }
  }

  dim(text: string): void {
    this.line(text, this.#theme.dim);
  }

  /** The last call whose result the fold hides in part, whole. */
  unfold(): boolean {
    if (!this.#lastTool?.isFolded) return false;
    this.#add(new TextBlock(this.#lastTool.whole(), this.#theme.dim, "  "));
    return true;
  }

  event(event: AgentEvent): void {
    switch (event.type) {
      case "stream_text":
        this.#hasThinking = false;
        if (!this.#answer) {
          // Blank lines that open an answer are none of it.
          if (event.text.trim() === "") return;
          this.#answer = new MarkdownStream(this.#theme);
          this.#add(this.#answer);
        }
        this.#answer.push(visible(event.text));
        break;
      case "stream_thinking":
        if (!this.#hasThinking) this.#add(new TextBlock("✻ Thinking …", this.#theme.dim));
        this.#hasThinking = true;
        break;
      case "attempt_reset":
        this.#answer?.reset();
        this.#answer = undefined;
        this.dim(event.reason);
        break;
      case "message":
        if (event.message.role === "assistant") this.#answer = undefined;
        break;
      case "tool_use": {
        this.#answer = undefined;
        this.#hasThinking = false;
        const block = new ToolBlock(event.call, this.#theme);
        this.#calls.set(event.call.id, block);
        this.#add(block);
        break;
      }
      case "tool_progress":
        this.#calls.get(event.id)?.progress(event.text);
        break;
      case "tool_result": {
        const block = this.#calls.get(event.call.id);
        this.#calls.delete(event.call.id);
        block?.end(event.result);
        if (block) this.#lastTool = block;
        break;
      }
      case "round_end":
        if (event.steering) this.user(event.steering);
        break;
      case "retry":
        this.dim(retryText(event));
        break;
      case "notice":
        this.dim(event.text);
        break;
      case "compacted":
        this.dim(compactedText(event));
        break;
      case "loop_complete":
        this.#answer = undefined;
        for (const block of this.#calls.values()) block.cut();
        this.#calls.clear();
        if (event.reason !== "end_turn") this.line(endText(event), this.#theme.warn);
        break;
      default:
        break;
    }
  }

  /** Of another agent that shares the screen: a line for each thing it did. */
  other(who: string, event: AgentEvent): void {
    switch (event.type) {
      case "message":
        if (event.message.role === "assistant")
          for (const block of event.message.content) if (block.type === "text") this.line(`${who}: ${block.text}`);
        break;
      case "tool_use":
        this.dim(`${who}: ● ${event.call.name}${shortInput(event.call.input)}`);
        break;
      case "tool_result": {
        const { result } = event;
        const text = firstLine(result.display?.type === "text" ? result.display.text : resultText(result));
        // A team's step has said it already.
        if (result.display?.type === "text" && result.display.text === this.#lastLine) return;
        this.dim(`${who}:   ${result.isError ? "✗ " : ""}${text}`);
        break;
      }
      case "retry":
        this.dim(`${who}: ${retryText(event)}`);
        break;
      case "notice":
        this.dim(`${who}: ${event.text}`);
        break;
      case "attempt_reset":
        this.dim(`${who}: ${event.reason}`);
        break;
      case "compacted":
        this.dim(`${who}: ${compactedText(event)}`);
        break;
      case "loop_complete":
        if (event.reason !== "end_turn") this.line(`${who}: ${endText(event)}`);
        break;
      default:
        break;
    }
  }

  #add(block: MarkdownStream | TextBlock | ToolBlock, isLine = false): void {
    if (this.children.length > 0 && !(isLine && this.#isLines)) this.addChild(new Spacer(1));
    this.#isLines = isLine;
    this.addChild(block);
  }
}
