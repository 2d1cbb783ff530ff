import type { FireHook, HookAgent, HookEvent, HookOutcome, Hooks, RunHookAgent } from "../../protocol/hook.ts";
import { isRecord } from "../../protocol/record.ts";
import { escapeSystemTags } from "../../protocol/system-tags.ts";
import { plainText } from "../bash/plain-text.ts";
import type { HookAnswer } from "./answer.ts";
import { CommandHooks } from "./command-hooks.ts";
import { holds, Undecided } from "./condition.ts";
import { factsOf, type Ground } from "./payload.ts";
import { canBlock, type HookMeans, runHook } from "./run-hook.ts";
import type { Hook } from "./schema.ts";

export type HookParts = {
  ground: Ground;
  env: NodeJS.ProcessEnv;
  /** For the person: one line. */
  note: (text: string) => void;
  maskSecrets: (text: string) => string;
  runAgent: () => RunHookAgent | undefined;
};
export type RunningHooks = Hooks & AsyncDisposable;

/** How long hooks that nobody waits for may go on when the session ends. */
const LAST_MS = 2_000;
const MAX_WORDS = 10_000;
const MAX_REMARK = 600;
/** Where a hook that should have decided is run when its condition can't be told. */
const GATES: readonly HookEvent["event"][] = ["pre_tool_use", "permission_request", "user_prompt_submit"];

/** All hooks of a process. What they say of an event comes back as one outcome; a hook that is broken is told to the person and counts as silent. */
export function runningHooks(hooks: readonly Hook[], parts: HookParts): RunningHooks {
  const commands = new CommandHooks(parts.env);
  const means: HookMeans = { ground: parts.ground, env: parts.env, commands, runAgent: parts.runAgent };
  const closing = new AbortController();
  const beside = new Set<Promise<unknown>>();

  const one = async (hook: Hook, event: HookEvent, agent: HookAgent, signal: AbortSignal): Promise<HookAnswer> => {
    const answer = await runHook(hook, event, agent, means, signal);
    return settled(hook, event, answer, parts);
  };
  const fire = async (event: HookEvent, agent: HookAgent, signal: AbortSignal): Promise<HookOutcome> => {
    const meant = hooks.filter((hook) => hook.event === event.event);
    if (meant.length === 0) return {};
    const outcomes: HookOutcome[] = [];
    let now = event;
    const together: Promise<HookOutcome>[] = [];
    for (const hook of meant) {
      if (!applies(hook, now, agent, parts)) continue;
      if (hook.isAsync) {
        const running = one(hook, now, agent, closing.signal).finally(() => beside.delete(running));
        beside.add(running);
      } else if (now.event === "pre_tool_use") {
        // One after another: each sees what those before it made of the input.
        const outcome = await one(hook, now, agent, signal);
        outcomes.push(outcome);
        if (outcome.updatedInput) now = { ...now, input: { ...(isRecord(now.input) ? now.input : {}), ...outcome.updatedInput } };
      } else together.push(one(hook, now, agent, signal));
    }
    const merged = merge([...outcomes, ...(await Promise.all(together))]);
    if (now !== event && "input" in now && isRecord(now.input)) merged.updatedInput = now.input;
    return merged;
  };

  return {
    of(agent): FireHook {
      return (event, signal) => fire(event, agent, signal);
    },
    async [Symbol.asyncDispose]() {
      let timer: NodeJS.Timeout | undefined;
      const last = new Promise((resolve) => {
        timer = setTimeout(resolve, LAST_MS);
      });
      if (beside.size > 0) await Promise.race([Promise.all(beside), last]);
      clearTimeout(timer);
      closing.abort();
      await Promise.all(beside);
      await commands[Symbol.asyncDispose]();
    },
  };
}

/** Whether the hook is meant; where its condition can't be told, one that may refuse decides for itself. */
export function applies(hook: Hook, event: HookEvent, agent: HookAgent, { ground, note }: Pick<HookParts, "ground" | "note">): boolean {
  if (!hook.condition) return true;
  try {
    return holds(hook.condition.expression, factsOf(event, agent, ground));
  } catch (error) {
    if (!(error instanceof Undecided)) throw error;
    const isGate = GATES.includes(event.event);
    note(`${nameOf(hook)}: ${error.message}, so ${isGate ? "it is run" : "it is not run"}.`);
    return isGate;
  }
}

/** Remarks are told; what the model will read can't speak as the system. */
function settled(
  hook: Hook,
  event: HookEvent,
  { remarks, isBroken, ...outcome }: HookAnswer,
  { note, maskSecrets }: HookParts,
): HookAnswer {
  const safe = (text: string) => escapeSystemTags(shortened(maskSecrets(plainText(text))));
  for (const remark of remarks) {
    const words = oneLine(maskSecrets(plainText(remark)));
    note(`${nameOf(hook)}: ${words}${/[.!?]$/.test(words) ? "" : "."}${isBroken && canBlock(event) ? " It counts as no answer." : ""}`);
  }
  const { block, context } = outcome;
  const isTooLate = event.event === "post_tool_use" || event.event === "post_tool_failure";
  const said = [context, isTooLate ? block : undefined].filter((text) => text !== undefined && text !== "").join("\n");
  if (block !== undefined && !canBlock(event))
    note(`${nameOf(hook)}: it refuses, which has no effect here: ${oneLine(maskSecrets(plainText(block)))}`);
  const { block: _block, context: _context, ...rest } = outcome;
  return {
    ...rest,
    ...(rest.reason === undefined ? {} : { reason: safe(rest.reason) }),
    ...(rest.halt === undefined ? {} : { halt: safe(rest.halt) }),
    ...(block === undefined || isTooLate || !canBlock(event) ? {} : { block: safe(block) }),
    ...(said === "" ? {} : { context: `<system-reminder>\nA hook of ${event.event} says:\n${safe(said)}\n</system-reminder>` }),
    remarks: [],
  };
}

/** A refusal beats everything, then deny, ask, allow. */
function merge(outcomes: readonly HookOutcome[]): HookOutcome {
  const merged: HookOutcome = {};
  const blocks = outcomes.flatMap(({ block }) => block ?? []);
  const halts = outcomes.flatMap(({ halt }) => halt ?? []);
  const contexts = outcomes.flatMap(({ context }) => context ?? []);
  if (blocks.length > 0) merged.block = blocks.join("\n");
  if (halts[0] !== undefined) merged.halt = halts[0];
  if (contexts.length > 0) merged.context = contexts.join("\n\n");
  for (const decision of ["deny", "ask", "allow"] as const) {
    const first = outcomes.find((outcome) => outcome.decision === decision);
    if (!first) continue;
    merged.decision = decision;
    if (first.reason !== undefined) merged.reason = first.reason;
    break;
  }
  return merged;
}

function nameOf({ place, event }: Hook): string {
  return `Hook ${event} (${place})`;
}

function shortened(text: string): string {
  return text.length <= MAX_WORDS
    ? text
    : `${text.slice(0, MAX_WORDS)}\n[${text.length - MAX_WORDS} more characters of the hook are left out]`;
}

function oneLine(text: string): string {
  return text
    .trim()
    .replaceAll(/\s*\n\s*/g, " ")
    .slice(0, MAX_REMARK);
}
