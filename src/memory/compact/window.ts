import type { Message } from "../../protocol/message.ts";
import type { ModelRequest, ToolSpec, Usage } from "../../protocol/model.ts";
import { TokenCount } from "../token-count.ts";
import { estimateText, estimateTools } from "../tokens.ts";
import { type Limits, limitsOf } from "./limits.ts";

type WindowOptions = { window: number; maxOutputTokens: number; system: string; toolSpecs: readonly ToolSpec[] };
/** `raw`: our estimate without the ratio. */
type Size = { tokens: number; raw: number };

/** Of a prompt that was cut in silence, and of the server's count of what was left of it. */
const MIN_CUT_PROMPT = 4_000;
const MIN_CUT_FIGURE = 1_000;

/** How large the context window is, by the settings first and by what the server lets know later; it never grows. */
export class Window {
  readonly count: TokenCount;
  readonly #maxOutputTokens: number;
  #tokens: number;
  #cutFigures: number[] = [];

  constructor(options: WindowOptions) {
    this.count = new TokenCount(options);
    this.#maxOutputTokens = options.maxOutputTokens;
    this.#tokens = options.window;
  }

  limits(): Limits {
    return limitsOf(this.#tokens, this.#maxOutputTokens);
  }

  /** In our estimate's own tokens. */
  rawLimits(): Limits {
    const { ratio } = this.count;
    return limitsOf(Math.floor(this.#tokens / ratio), Math.floor(this.#maxOutputTokens / ratio));
  }

  sizeOf(history: readonly Message[]): Size {
    return { tokens: this.count.used(history), raw: this.count.raw(history) };
  }

  sizeOfRequest({ system, tools, messages }: ModelRequest): Size {
    const raw = estimateText(system) + estimateTools(tools) + this.count.rawMessages(messages);
    return { tokens: Math.ceil(raw * this.count.ratio), raw };
  }

  /** A request of that size was refused as too long. */
  tooLong(limitTokens: number | undefined, sent: Size): void {
    const named = limitTokens !== undefined && limitTokens > 0 ? limitTokens : undefined;
    // It was too long where we thought that it fits: we count too low.
    if (named !== undefined && sent.tokens < named) this.count.isAtLeast(named, sent.raw);
    const tokens = named ?? Math.floor(sent.tokens * 0.9);
    if (tokens > 0) this.#tokens = Math.min(this.#tokens, tokens);
  }

  /** Gives a notice when the usage shows that the server cuts long prompts without a word; its figure is the window then. */
  observe(history: readonly Message[], usage: Usage): string | undefined {
    const told = this.count.observe(history, usage);
    const prompt = this.count.raw(history);
    const figure = usage.input + usage.cacheRead + usage.cacheWrite;
    if (told !== "too_low" || prompt <= MIN_CUT_PROMPT || figure < MIN_CUT_FIGURE) {
      this.#cutFigures = [];
      return undefined;
    }
    this.#cutFigures.push(figure);
    const tokens = Math.max(...this.#cutFigures);
    // Twice in a row: a single odd figure may be a server's cache.
    if (this.#cutFigures.length < 2 || tokens >= this.#tokens) return undefined;
    this.#tokens = tokens;
    return `The server counted ${figure} tokens of a prompt of about ${Math.round(prompt)}: it cuts what is too long without a word. RooCode takes ${tokens} tokens as the context window from now on. With Ollama raise num_ctx (OLLAMA_CONTEXT_LENGTH) and set the provider's contextWindow to the same.`;
  }
}
