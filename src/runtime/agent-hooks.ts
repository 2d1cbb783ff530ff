import { adviceOf, type FireHook, type HookAgent, type HookEvent, type Hooks } from "../protocol/hook.ts";
import type { Compactor } from "../protocol/memory.ts";
import type { AskHuman, BeforeAsk } from "../protocol/permission.ts";
import { goOnText } from "./go-on-text.ts";

/** Of a sub-agent, the prompt that it was started with. */
export type AgentHooksRequest = Pick<HookAgent, "agentType" | "team" | "worktree" | "task" | "isOfHook"> & {
  hooks: Hooks;
  subagent?: { prompt: string };
  /** Ends the wait for hooks of the start: no turn is there yet that could be interrupted. */
  interrupt?: AbortSignal | undefined;
};
type Conversation = {
  request: { name: string; sessionId: string; sessionPath: string; mode: () => string };
  shell: { cwd: string };
  note: (text: string) => void;
};

/** So often a hook may keep an agent from ending; what it wants more is told to the person. */
const MAX_CONTINUATIONS = 8;

/** Where a hook's wish that the run shall end is obeyed. At an end it ends anyway. */
const HALTING: readonly HookEvent["event"][] = ["pre_tool_use", "post_tool_use", "post_tool_failure"];

/**
 * The process's hooks in the name of one conversation, at the places that runtime knows. What they say to the model waits here for the
 * next message that can carry it.
 */
export class AgentHooks {
  readonly #fire: FireHook;
  readonly #endEvent: "stop" | "subagent_stop";
  readonly #prompt: string | undefined;
  readonly #note: (text: string) => void;
  readonly #never = new AbortController().signal;
  readonly #interrupt: AbortSignal;
  #contexts: string[] = [];
  #halt: string | undefined;
  #continuations = 0;

  constructor({ hooks, subagent, interrupt, ...agent }: AgentHooksRequest, { request, shell, note }: Conversation) {
    this.#fire = hooks.of({
      ...agent,
      agent: request.name,
      session: request.sessionId,
      transcript: request.sessionPath,
      cwd: () => shell.cwd,
      mode: request.mode,
    });
    this.#endEvent = subagent ? "subagent_stop" : "stop";
    this.#prompt = subagent?.prompt;
    this.#interrupt = interrupt ?? this.#never;
    this.#note = note;
  }

  readonly fire: FireHook = async (event, signal) => {
    const outcome = await this.#fire(event, signal);
    if (outcome.context !== undefined) this.#contexts.push(outcome.context);
    if (HALTING.includes(event.event)) this.#halt ??= outcome.halt;
    return outcome;
  };

  async start(isResumed: boolean): Promise<void> {
    if (this.#prompt === undefined) await this.fire({ event: "session_start", source: isResumed ? "resume" : "new" }, this.#interrupt);
    else await this.fire({ event: "subagent_start", prompt: this.#prompt }, this.#interrupt);
  }

  async end(turns: number): Promise<void> {
    if (this.#prompt === undefined) await this.fire({ event: "session_end", turns }, this.#never);
  }

  begin(): void {
    this.#halt = undefined;
    this.#continuations = 0;
  }

  halted = (): string | undefined => this.#halt;

  takeContext(): string | undefined {
    const contexts = this.#contexts;
    this.#contexts = [];
    return contexts.length === 0 ? undefined : contexts.join("\n\n");
  }

  /** Hooks of permission_request may answer before anybody is asked. */
  beforeAsk: BeforeAsk = async ({ tool, access }, { reason, sticky }, signal) => {
    const event = { event: "permission_request", tool, subject: access.subject, reason, isSticky: sticky } as const;
    return adviceOf(await this.fire(event, signal));
  };

  /** The same question; hooks hear that a person is waited for. */
  notifying(ask: AskHuman | undefined): AskHuman | undefined {
    return (
      ask &&
      ((given, decision, signal) => {
        const message = `${given.tool}(${given.access.subject}): ${decision.reason}`;
        // Beside the question, which must not wait for it.
        void this.fire({ event: "notification", kind: "permission", message }, this.#never);
        return ask(given, decision, signal);
      })
    );
  }

  /** What keeps the agent from ending: the words by which it goes on. */
  beforeEnd = async (text: string, signal: AbortSignal): Promise<string | undefined> => {
    const outcome = await this.fire({ event: this.#endEvent, text, isAgain: this.#continuations > 0 }, signal);
    if (outcome.block === undefined || outcome.halt !== undefined) return undefined;
    if (this.#continuations >= MAX_CONTINUATIONS) {
      this.#note(
        `A hook of ${this.#endEvent} kept the agent from ending ${MAX_CONTINUATIONS} times; it ends now. The hook's reason: ${outcome.block}`,
      );
      return undefined;
    }
    this.#continuations += 1;
    return [goOnText(this.#endEvent, outcome.block), this.takeContext()].filter((part) => part !== undefined).join("\n\n");
  };

  /** Before and after the summary takes the history's place; what the first hook says goes into the request for it. */
  around(compactor: Compactor): Compactor {
    const { fire } = this;
    // Its words are for the summary, not for the conversation.
    const before = this.#fire;
    return {
      isDue: (history) => compactor.isDue(history),
      observe: (history, usage) => compactor.observe(history, usage),
      tooLong: (limitTokens) => compactor.tooLong(limitTokens),
      report: (history) => compactor.report(history),
      takeNotices: () => compactor.takeNotices(),
      async *compact(history, options, signal) {
        const { trigger } = options;
        const { context } = await before({ event: "pre_compact", trigger }, signal);
        const focus = [options.focus, context].filter((part) => part !== undefined).join("\n");
        const outcome = yield* compactor.compact(history, { ...options, ...(focus === "" ? {} : { focus }) }, signal);
        if (!("failed" in outcome)) {
          const { mode, tokensBefore, tokensAfter } = outcome;
          await fire({ event: "post_compact", trigger, mode, tokensBefore, tokensAfter }, signal);
        }
        return outcome;
      },
    };
  }
}
