import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import type { AgentEvent } from "../protocol/agent.ts";
import type { ToolUseBlock } from "../protocol/message.ts";
import type { HumanAnswer, PermissionDecision, PermissionRequest } from "../protocol/permission.ts";
import { PERMISSION_MODES, type PermissionMode } from "../protocol/permission.ts";
import type { PlanAnswer } from "../tools/builtin/exit-plan-mode.ts";

const Update = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("addRules"), behavior: z.string(), rules: z.array(z.unknown()) }),
  z.looseObject({ type: z.literal("setMode"), mode: z.string() }),
]);
const Answer = z.discriminatedUnion("behavior", [
  z.object({
    behavior: z.literal("allow"),
    updatedInput: z.record(z.string(), z.unknown()).optional(),
    updatedPermissions: z.array(z.unknown()).optional(),
  }),
  z.object({ behavior: z.literal("deny"), message: z.string().optional(), interrupt: z.boolean().optional() }),
]);
type Answer = z.output<typeof Answer>;

const CHANGED_INPUT =
  "the program in front changed what the call says, which is not possible here: a call is carried out as it was judged, or not at all";

/** Questions to the program in front: `can_use_tool` requests on standard output. What is not answered is denied. */
export class StreamQuestions {
  readonly #write: (value: object) => void;
  /** Calls without a result. */
  readonly #calls = new Map<string, ToolUseBlock>();
  readonly #open = new Map<string, (response: unknown) => void>();
  #isOver = false;
  /** Told by the answers that want more than a yes or no. */
  onMode: (mode: PermissionMode) => void = () => undefined;
  onInterrupt: () => void = () => undefined;

  constructor(write: (value: object) => void) {
    this.#write = write;
  }

  see(event: AgentEvent): void {
    if (event.type === "tool_use") this.#calls.set(event.call.id, event.call);
    if (event.type === "tool_result") this.#calls.delete(event.call.id);
  }

  async *watch(events: AsyncIterable<AgentEvent>): AsyncGenerator<AgentEvent> {
    for await (const event of events) {
      this.see(event);
      yield event;
    }
  }

  /** `rule`: what "always" would write. */
  async permission(
    { tool, access, call }: PermissionRequest,
    { reason }: PermissionDecision,
    rule: string | undefined,
    signal: AbortSignal,
  ): Promise<HumanAnswer | undefined> {
    const input = call?.input ?? { subject: access.subject };
    const suggestion = rule === undefined ? undefined : suggestionOf(rule);
    const more = { decision_reason: reason, ...(suggestion ? { permission_suggestions: [suggestion] } : {}) };
    const answer = await this.#ask({ tool_name: tool, input, tool_use_id: call?.id ?? randomUUID(), ...more }, signal);
    if (!answer) return undefined;
    if (answer.behavior === "deny") {
      if (answer.interrupt) this.onInterrupt();
      return answer.message ? { refusal: answer.message } : "no";
    }
    if (answer.updatedInput && !isDeepStrictEqual(answer.updatedInput, input)) return { refusal: CHANGED_INPUT };
    const updates = updatesOf(answer);
    for (const update of updates) if (update.type === "setMode") this.#setMode(update.mode);
    const isAlways = updates.some((update) => update.type === "addRules" && isDeepStrictEqual(update.rules, suggestion?.rules));
    return isAlways ? "always" : "yes";
  }

  /** Undefined when nobody answered. */
  async plan(plan: string, signal: AbortSignal): Promise<PlanAnswer | undefined> {
    const call = [...this.#calls.values()].findLast(({ name }) => name === "ExitPlanMode");
    const answer = await this.#ask({ tool_name: "ExitPlanMode", input: { plan }, tool_use_id: call?.id ?? randomUUID() }, signal);
    if (!answer) return undefined;
    if (answer.behavior === "deny") {
      if (answer.interrupt) this.onInterrupt();
      return { feedback: answer.message || "No: plan on. They did not say what to change." };
    }
    const wanted = updatesOf(answer).find((update) => update.type === "setMode");
    return { mode: (wanted && modeNamed(wanted.mode)) ?? "default" };
  }

  /** To a request of ours. */
  answer(id: string, response: unknown): void {
    this.#open.get(id)?.(response);
  }

  /** Nobody is there any more. */
  close(): void {
    this.#isOver = true;
    for (const settle of this.#open.values()) settle(undefined);
  }

  async #ask(request: object, signal: AbortSignal): Promise<Answer | undefined> {
    if (this.#isOver || signal.aborted) return undefined;
    const id = randomUUID();
    let withdraw = () => {};
    const response = await new Promise<unknown>((resolve) => {
      withdraw = () => {
        this.#write({ type: "control_cancel_request", request_id: id });
        resolve(undefined);
      };
      signal.addEventListener("abort", withdraw, { once: true });
      this.#open.set(id, resolve);
      this.#write({ type: "control_request", request_id: id, request: { subtype: "can_use_tool", ...request } });
    });
    signal.removeEventListener("abort", withdraw);
    this.#open.delete(id);
    // An answer of another shape is none.
    return Answer.safeParse(response).data;
  }

  #setMode(name: string): void {
    const mode = modeNamed(name);
    if (mode) this.onMode(mode);
  }
}

function updatesOf({ updatedPermissions = [] }: Extract<Answer, { behavior: "allow" }>): z.output<typeof Update>[] {
  return updatedPermissions.flatMap((update) => Update.safeParse(update).data ?? []);
}

function modeNamed(name: string): PermissionMode | undefined {
  return PERMISSION_MODES.find((mode) => mode === name);
}

/** Of one rule, `Bash(npm test)`; several are not one thing that could be sent back. */
function suggestionOf(rule: string) {
  const [, toolName, ruleContent] = /^(\w+)(?:\((.*)\))?$/s.exec(rule) ?? [];
  if (toolName === undefined || ruleContent?.includes("), ")) return undefined;
  const rules = [ruleContent === undefined ? { toolName } : { toolName, ruleContent }];
  return { type: "addRules", rules, behavior: "allow", destination: "localSettings" };
}
