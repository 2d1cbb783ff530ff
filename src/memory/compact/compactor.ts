import type { AgentEvent, CompactTrigger } from "../../protocol/agent.ts";
import type { Compaction, Compactor, ContextReport } from "../../protocol/memory.ts";
import type { Message } from "../../protocol/message.ts";
import { NO_USAGE, type ToolSpec, type Usage } from "../../protocol/model.ts";
import type { Ask } from "./ask-summary.ts";
import type { Run } from "./ladder.ts";
import { hasTooManyImages } from "./limits.ts";
import { contextReport } from "./report.ts";
import { Window } from "./window.ts";

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

/** Second layer of memory: near the window, one user message with a summary takes the place of the whole conversation. */
export function createCompactor(options: CompactorOptions): Compactor {
  return new ConversationCompactor(options);
}

class ConversationCompactor implements Compactor {
  readonly #options: CompactorOptions;
  readonly #window: Window;
  /** Of the request that is on its way. */
  #sent: readonly Message[] = [];
  #failures = 0;
  #notices: string[] = [];

  constructor(options: CompactorOptions) {
    this.#options = options;
    this.#window = new Window(options);
  }

  isDue(history: readonly Message[]): boolean {
    this.#sent = [...history];
    if (hasTooManyImages(history)) return true;
    const { count } = this.#window;
    const { trigger } = this.#window.limits();
    return this.#failures < MAX_FAILURES && count.usedAtMost(history) >= trigger && count.used(history) >= trigger;
  }

  observe(history: readonly Message[], usage: Usage): void {
    const notice = this.#window.observe(history, usage);
    if (notice !== undefined) this.#notices.push(notice);
  }

  tooLong(limitTokens: number | undefined): void {
    this.#window.tooLong(limitTokens, this.#window.sizeOf(this.#sent));
  }

  takeNotices(): string[] {
    return this.#notices.splice(0);
  }

  report(history: readonly Message[]): ContextReport {
    const { window, trigger } = this.#window.limits();
    return contextReport(history, this.#window.count, { window, trigger });
  }

  async *compact(
    history: readonly Message[],
    { trigger, focus }: { trigger: CompactTrigger; focus?: string | undefined },
    signal: AbortSignal,
  ): AsyncGenerator<AgentEvent, Compaction | { failed: string }> {
    for (const text of this.takeNotices()) yield { type: "notice", text };
    const { count } = this.#window;
    const tokensBefore = count.used(history);
    const preserved = signal.aborted ? [] : await this.#options.preserve();
    // Most conversations never come here, and each start would pay for it.
    const [{ climbDown }, { Plan }] = await Promise.all([import("./ladder.ts"), import("./plan.ts")]);
    const plan = new Plan(history, preserved, { ...this.#options, count, limits: () => this.#window.rawLimits() });
    const run: Run = { usage: NO_USAGE, reason: "", isServerFault: false };
    const done = yield* climbDown(plan, { ...this.#options, window: this.#window, trigger, focus, signal }, run);
    if ((signal.aborted || !done) && run.usage.input + run.usage.output > 0) yield { type: "spent", usage: run.usage };
    if (signal.aborted) return { failed: "interrupted" };
    if (trigger !== "manual") {
      this.#failures = done?.mode === "suffix" || done?.mode === "transcript" ? 0 : this.#failures + 1;
      if (this.#failures === MAX_FAILURES) yield { type: "notice", text: offNotice(run.reason) };
    }
    if (!done) return { failed: run.reason };
    this.#sent = [...done.history];
    return { ...done, tokensBefore, tokensAfter: count.used(done.history), usage: run.usage };
  }
}

function offNotice(reason: string): string {
  return `Automatic compaction failed ${MAX_FAILURES} times in a row (${reason}) and is off for this session. /compact tries once more; a new session begins anew.`;
}
