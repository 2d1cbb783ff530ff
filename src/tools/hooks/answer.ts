import type { HookEvent, HookOutcome } from "../../protocol/hook.ts";
import { isRecord } from "../../protocol/record.ts";
import { EVENTS } from "./events.ts";
import { ownFields } from "./payload.ts";

/** What one hook said; `remarks` are for the person. `isBroken`: it should have said something and could not. */
export type HookAnswer = HookOutcome & { remarks: string[]; isBroken?: true };

export function broken(remark: string): HookAnswer {
  return { remarks: [remark], isBroken: true };
}

const DECISIONS: Readonly<Record<string, "allow" | "deny" | "ask" | "block">> = {
  allow: "allow",
  approve: "allow",
  deny: "deny",
  block: "block",
  ask: "ask",
};
const MAX_TRIES = 50;

/** The answer that stands on standard output, or in the body of a reply: a JSON object in our words or in Claude Code's, else plain text. */
export function readAnswer(output: string, event: HookEvent): HookAnswer {
  const text = output.trim();
  if (text === "") return { remarks: [] };
  const answer = lastObject(text);
  if (answer !== undefined) return fromObject(answer, event);
  if (text.startsWith("{") || (!EVENTS[event.event].takesText && /^[ \t]*\{[ \t]*"/m.test(text)))
    return broken(`its answer begins like JSON and is none: ${text.slice(0, 100)}`);
  return EVENTS[event.event].takesText ? { context: text, remarks: [] } : { remarks: [] };
}

/** What a shell's profile or a chatty script printed around it does not count. */
function lastObject(text: string): Record<string, unknown> | undefined {
  const starts = [...text.matchAll(/^[ \t]*\{/gm)].map(({ index }) => index).reverse();
  for (const end of new Set([text.length, text.lastIndexOf("}") + 1]))
    for (const start of [0, ...starts.slice(0, MAX_TRIES)]) {
      try {
        const value: unknown = JSON.parse(text.slice(start, end));
        if (isRecord(value)) return value;
      } catch {
        // Another brace may begin it.
      }
    }
  return undefined;
}

function fromObject(answer: Record<string, unknown>, event: HookEvent): HookAnswer {
  const special = isRecord(answer.hookSpecificOutput) ? answer.hookSpecificOutput : {};
  const asked = isRecord(special.decision) ? special.decision : {};
  const remarks: string[] = [];
  const text = (value: unknown, name: string): string | undefined => {
    if (value === undefined || value === null || value === "") return undefined;
    if (typeof value === "string") return value;
    remarks.push(`"${name}" of its answer is no text; it is ignored`);
    return undefined;
  };
  const systemMessage = text(answer.systemMessage, "systemMessage");
  if (systemMessage !== undefined) remarks.push(systemMessage);
  const reason =
    text(special.permissionDecisionReason, "permissionDecisionReason") ?? text(asked.message, "message") ?? text(answer.reason, "reason");
  const contexts = [
    text(special.additionalContext, "additionalContext"),
    text(answer.additionalContext, "additionalContext"),
    text(answer.context, "context"),
  ];
  const context = contexts.filter((one) => one !== undefined).join("\n");
  const outcome: HookAnswer = { remarks };
  if (context !== "") outcome.context = context;
  if (answer.continue === false) outcome.halt = text(answer.stopReason, "stopReason") ?? reason ?? "A hook ended the run.";

  const wanted = special.permissionDecision ?? asked.behavior ?? answer.permissionDecision ?? answer.decision;
  const decision = typeof wanted === "string" ? DECISIONS[wanted.toLowerCase()] : undefined;
  if (wanted !== undefined && wanted !== null && decision === undefined)
    remarks.push(`the decision ${JSON.stringify(wanted)} of its answer is none of allow, ask, deny and block; it is ignored`);
  if (decision === "block" || (decision === "deny" && event.event !== "pre_tool_use" && event.event !== "permission_request"))
    outcome.block = reason ?? "It gave no reason.";
  else if (decision !== undefined) outcome.decision = decision;
  if (reason !== undefined && outcome.decision !== undefined) outcome.reason = reason;

  const changed = special.updatedInput ?? asked.updatedInput ?? answer.updatedInput ?? answer.updated_input ?? answer.input;
  if (isRecord(changed) && event.event === "pre_tool_use") outcome.updatedInput = ownFields(event.tool, changed);
  else if (isRecord(changed)) remarks.push("it changes the input, which only a hook of pre_tool_use can; that is ignored");
  else if (changed !== undefined && changed !== null) remarks.push("the changed input of its answer is no object; it is ignored");
  return outcome;
}
