import type { AgentEvent } from "../../protocol/agent.ts";
import type { Compaction, Compactor, CompactTrigger, ContextReport } from "../../protocol/memory.ts";
import type { Message } from "../../protocol/message.ts";
import { addUsage, type ModelRequest, NO_USAGE, type ToolSpec, type Usage } from "../../protocol/model.ts";
import { TokenCount } from "../token-count.ts";
import { estimateText, estimateTools } from "../tokens.ts";
import { type Ask, askSummary } from "./ask-summary.ts";
import { hasTooManyImages, type Limits, limitsOf } from "./limits.ts";
import { Plan } from "./plan.ts";
import { contextReport } from "./report.ts";
import { summaryPrompt } from "./summary-prompt.ts";
import { suffixRequest, transcriptRequest } from "./summary-request.ts";

export type CompactorOptions = {
  model: string;
  window: number;
  maxOutputTokens: number;
  system: string;
  toolSpecs: readonly ToolSpec[];
  ask: Ask;
  /** Reminders as they are now: instructions, memory index, mode, team name and role, tasks, plan, skills. */
  preserve: () => Promise<string[]>;
  /** A file's text by the path that a tool was given; undefined when it is not to be had. */
  readFile: (path: string) => Promise<string | undefined>;
};

const MAX_FAILURES = 3;
/** Of a prompt that was cut in silence, and of the server's count of what was left of it. */
const MIN_CUT_PROMPT = 4_000;
const MIN_CUT_FIGURE = 1_000;

export function createCompactor(options: CompactorOptions): Compactor {
  return new ConversationCompactor(options);
}

type Run = { usage: Usage; reason: string };

class ConversationCompactor implements Compactor {
  readonly #options: CompactorOptions;
  readonly #count: TokenCount;
  #window: number;
  /** Of the request that is on its way: tokens, and our estimate without the ratio. */
  #sent = { tokens: 0, raw: 0 };
  #failures = 0;
  #cutFigures: number[] = [];
  #notices: string[] = [];

  constructor(options: CompactorOptions) {
    this.#options = options;
    this.#window = options.window;
    this.#count = new TokenCount(options);
  }

  isDue(history: readonly Message[]): boolean {
    const used = this.#count.used(history);
    this.#sent = { tokens: used, raw: this.#count.raw(history) };
    if (hasTooManyImages(history)) return true;
    return this.#failures < MAX_FAILURES && used >= this.#limits().trigger;
  }

  observe(history: readonly Message[], usage: Usage): void {
    const told = this.#count.observe(history, usage);
    const raw = this.#count.raw(history);
    const figure = usage.input + usage.cacheRead + usage.cacheWrite;
    // Twice in a row: a single odd figure may be a server's cache.
    if (told !== "too_low" || raw <= MIN_CUT_PROMPT || figure < MIN_CUT_FIGURE) {
      this.#cutFigures = [];
      return;
    }
    this.#cutFigures.push(figure);
    const window = Math.max(...this.#cutFigures);
    if (this.#cutFigures.length < 2 || window >= this.#window) return;
    this.#window = window;
    this.#notices.push(
      `The server counted ${figure} tokens of a prompt of about ${Math.round(raw)}: it cuts what is too long without a word. RooCode takes ${window} tokens as the context window from now on. With Ollama raise num_ctx (OLLAMA_CONTEXT_LENGTH) and set contextWindow of the provider to the same.`,
    );
  }

  tooLong(limitTokens: number | undefined): void {
    this.#shrinkWindow(limitTokens, this.#sent);
  }

  takeNotices(): string[] {
    return this.#notices.splice(0);
  }

  report(history: readonly Message[]): ContextReport {
    const { window, trigger } = this.#limits();
    return contextReport(history, this.#count, { window, trigger });
  }

  async *compact(
    history: readonly Message[],
    { trigger, focus }: { trigger: CompactTrigger; focus?: string | undefined },
    signal: AbortSignal,
  ): AsyncGenerator<AgentEvent, Compaction | { failed: string }> {
    yield { type: "state", state: "compacting" };
    for (const text of this.takeNotices()) yield { type: "notice", text };
    const tokensBefore = this.#count.used(history);
    const preserved = signal.aborted ? [] : await this.#options.preserve();
    const plan = new Plan(history, preserved, { ...this.#options, count: this.#count, limits: () => this.#rawLimits() });
    const run: Run = { usage: NO_USAGE, reason: "" };
    const done = yield* this.#climbDown(plan, { trigger, focus, isTight: tokensBefore >= this.#limits().trigger }, run, signal);
    if (signal.aborted) return { failed: INTERRUPTED };
    if (trigger !== "manual") {
      this.#failures = done?.mode === "suffix" || done?.mode === "transcript" ? 0 : this.#failures + 1;
      if (this.#failures === MAX_FAILURES) yield { type: "notice", text: offNotice(run.reason) };
    }
    if (!done) return { failed: run.reason };
    return { ...done, tokensBefore, tokensAfter: this.#count.used(done.history), usage: run.usage };
  }

  /** The rungs of the ladder; when none holds, `run` has the reason. An abort is seen by the caller. */
  async *#climbDown(
    plan: Plan,
    { trigger, focus, isTight }: { trigger: CompactTrigger; focus: string | undefined; isTight: boolean },
    run: Run,
    signal: AbortSignal,
  ): AsyncGenerator<AgentEvent, Pick<Compaction, "history" | "mode"> | undefined> {
    if (signal.aborted) return undefined;
    const hopeless = plan.hopeless();
    if (hopeless !== undefined) {
      run.reason = hopeless;
      return undefined;
    }
    if (plan.canGain()) {
      if (trigger !== "overflow" && this.#suffixFits(plan.history, focus)) {
        const request = suffixRequest(plan.history, this.#options, this.#limits().summary, focus);
        const history = yield* this.#summarise(plan, request, run, signal);
        if (history) return { history, mode: "suffix" };
      }
      // A transcript that the server finds too long is shortened once more: by the limit that it names, and by half.
      for (const share of [1, 0.5]) {
        if (signal.aborted) return undefined;
        const windowBefore = this.#window;
        const request = transcriptRequest(plan.history, this.#options, this.#rawLimits(), { focus, share });
        run.reason ||= "the window is too small for a request that summarises";
        const history = request && (yield* this.#summarise(plan, request, run, signal));
        if (history) return { history, mode: "transcript" };
        if (this.#window === windowBefore) break;
      }
      if (signal.aborted) return undefined;
    } else run.reason = "nearly all of it is words and instructions that stay";
    // Whoever asks for a summary does not want to lose rounds instead while there is room.
    if (trigger === "manual" && !isTight && !hasTooManyImages(plan.history)) {
      run.reason = `Not compacted: ${run.reason}.`;
      return undefined;
    }
    const history = plan.dropped();
    if (history) return { history, mode: "dropped" };
    run.reason = `The conversation can't be made shorter: ${run.reason}. ${plan.sizes()}`;
    return undefined;
  }

  async *#summarise(plan: Plan, request: ModelRequest, run: Run, signal: AbortSignal): AsyncGenerator<AgentEvent, Message[] | undefined> {
    const answer = yield* askSummary(this.#options.ask, request, signal);
    run.usage = addUsage(run.usage, answer.usage);
    switch (answer.type) {
      case "summary":
        return signal.aborted ? undefined : plan.withSummary(answer.text, run);
      case "too_long": {
        run.reason = answer.reason;
        const raw = estimateText(request.system) + estimateTools(request.tools) + this.#count.rawMessages(request.messages);
        this.#shrinkWindow(answer.limitTokens, { tokens: Math.ceil(raw * this.#count.ratio), raw });
        return undefined;
      }
      case "failed":
        run.reason = answer.reason;
        return undefined;
      case "interrupted":
        run.reason = INTERRUPTED;
        return undefined;
    }
  }

  #suffixFits(history: readonly Message[], focus: string | undefined): boolean {
    if (hasTooManyImages(history)) return false;
    const prompt = estimateText(summaryPrompt(focus)) * this.#count.ratio;
    return this.#count.used(history) + prompt + Math.min(20_000, this.#window / 4) <= this.#window;
  }

  /** Never grows: a window that was taken from a refusal holds for the session. */
  #shrinkWindow(limitTokens: number | undefined, sent: { tokens: number; raw: number }): void {
    const named = limitTokens !== undefined && limitTokens > 0 ? limitTokens : undefined;
    // It was too long where we thought that it fits: we count too low.
    if (named !== undefined && sent.tokens < named) this.#count.isAtLeast(named, sent.raw);
    const window = named ?? Math.floor(sent.tokens * 0.9);
    if (window > 0) this.#window = Math.min(this.#window, window);
  }

  #limits(): Limits {
    return limitsOf(this.#window, this.#options.maxOutputTokens);
  }

  /** In our estimate's own tokens. */
  #rawLimits(): Limits {
    return limitsOf(Math.floor(this.#window / this.#count.ratio), Math.floor(this.#options.maxOutputTokens / this.#count.ratio));
  }
}

const INTERRUPTED = "interrupted";

function offNotice(reason: string): string {
  return `Automatic compaction failed ${MAX_FAILURES} times in a row (${reason}) and is off for this session. /compact tries once more; /clear begins anew.`;
}
