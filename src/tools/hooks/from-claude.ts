import type { HookEventName } from "../../protocol/hook.ts";
import { isRecord } from "../../protocol/record.ts";
import { toolsNamed } from "../../protocol/tool-names.ts";
import { EVENTS, eventNamed } from "./events.ts";

/** An entry as it is written into our settings. */
type HookEntry = { event: HookEventName; if?: string; action: Record<string, unknown> };
export type Converted = { entries: HookEntry[]; left: string[] };
/** A condition, none, or why there is no such thing here. */
type Matched = { condition?: string } | { left: string };

/** The `hooks` of a Claude Code settings file in our form; `left` says of each that can't be had here why. */
export function hooksFromClaude(hooks: unknown): Converted {
  const converted: Converted = { entries: [], left: [] };
  if (hooks === undefined) return converted;
  if (!isRecord(hooks)) return { entries: [], left: ["hooks: it is no map of events"] };
  for (const [name, groups] of Object.entries(hooks)) {
    const event = eventNamed(name);
    if (event === undefined || EVENTS[event].claude === undefined) {
      converted.left.push(`hooks.${name}: there is no such event here`);
      continue;
    }
    for (const [index, group] of (Array.isArray(groups) ? groups : [groups]).entries())
      takeGroup(group, event, `hooks.${name}[${index}]`, converted);
  }
  return converted;
}

function takeGroup(group: unknown, event: HookEventName, place: string, { entries, left }: Converted): void {
  if (!isRecord(group) || !Array.isArray(group.hooks)) {
    left.push(`${place}: it has no list of hooks`);
    return;
  }
  const matched = conditionOf(group.matcher, event);
  if ("left" in matched) {
    left.push(`${place}: ${matched.left}`);
    return;
  }
  const { condition } = matched;
  for (const [index, hook] of group.hooks.entries()) {
    const action = actionOf(hook);
    if (typeof action === "string") left.push(`${place}.hooks[${index}]: ${action}`);
    else entries.push({ event, ...(condition === undefined ? {} : { if: condition }), action });
  }
}

function actionOf(hook: unknown): Record<string, unknown> | string {
  if (!isRecord(hook)) return "it is no map";
  const { type, command, url, prompt, headers, timeout, allowedEnvVars, async: isAsync } = hook;
  // Without them it would run where it was not to.
  for (const key of ["if", "once", "shell"]) if (hook[key] !== undefined) return `"${key}" is not known here`;
  const common = {
    ...(typeof timeout === "number" && timeout > 0 ? { timeout: Math.min(timeout, 3_600) } : {}),
    ...(isAsync === true ? { async: true } : {}),
  };
  switch (type) {
    case "command":
      return typeof command === "string" && command.trim() !== "" ? { type, command, ...common } : "it has no command";
    case "http":
      return typeof url === "string"
        ? { type, url, ...(isRecord(headers) ? { headers: braced(headers, allowedEnvVars) } : {}), ...common }
        : "it has no url";
    case "prompt":
    case "agent":
      // A model judges the event: here that is a sub-agent, which reads the event behind its prompt.
      if (typeof prompt !== "string") return "it has no prompt";
      return {
        type: "agent",
        prompt: `${prompt.replaceAll("$ARGUMENTS", "").trim()}\nAnswer with {"decision": "block", "reason": "…"} to refuse.`,
        ...common,
      };
    default:
      return `there is no action "${String(type)}" here`;
  }
}

/** Claude Code fills in the variables of `allowedEnvVars` and leaves all others empty. */
function braced(headers: Record<string, unknown>, allowed: unknown): Record<string, unknown> {
  const isAllowed = (name: string) => Array.isArray(allowed) && allowed.includes(name);
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === "string"
        ? value.replaceAll(/\$(?:\{(\w+)\}|(\w+))/g, (_, one, other) => (isAllowed(one ?? other) ? `\${${one ?? other}}` : ""))
        : value,
    ]),
  );
}

/** Each event matches something else. */
function conditionOf(matcher: unknown, event: HookEventName): Matched {
  if (matcher === undefined || matcher === null || matcher === "" || matcher === "*") return {};
  if (typeof matcher !== "string") return { left: "its matcher is no text" };
  switch (event) {
    case "pre_tool_use":
    case "post_tool_use":
    case "post_tool_failure":
    case "permission_request":
      return toolCondition(matcher, event);
    case "session_start":
      return wordCondition(matcher, "source", { startup: "new", resume: "resume" });
    case "notification":
      return wordCondition(matcher, "kind", { permission_prompt: "permission", elicitation_dialog: "question" });
    case "pre_compact":
    case "post_compact":
      return wordCondition(matcher, "trigger", { manual: "manual", auto: "auto" });
    case "subagent_start":
    case "subagent_stop":
      return { condition: either("agent_type", matcher.split("|")) };
    case "session_end":
      return { left: `its matcher "${matcher}" has no counterpart here` };
    default:
      // Claude Code takes no notice of one here.
      return {};
  }
}

function toolCondition(matcher: string, event: HookEventName): Matched {
  if (!/^[\w-]+(\s*[|,]\s*[\w-]+)*$/.test(matcher)) {
    try {
      new RegExp(matcher);
    } catch {
      return { left: `its matcher "${matcher}" is no regular expression` };
    }
    return { condition: `tool =~ /^(?:${matcher.replaceAll(/(?<!\\)\//g, "\\/")})$/` };
  }
  const purpose = event === "pre_tool_use" || event === "permission_request" ? "deny" : "grant";
  const words = matcher.split(/[|,]/).map((word) => word.trim());
  const named = words.map((word) => ({ word, tools: toolsNamed(word, purpose) ?? [] }));
  const tools = [...new Set(named.flatMap((one) => one.tools))];
  if (tools.length === 0) return { left: `its matcher "${matcher}" names no tool that there is here` };
  return { condition: either("tool", tools) };
}

function wordCondition(matcher: string, field: string, words: Readonly<Record<string, string>>): Matched {
  const wanted = matcher.split("|").map((word) => word.trim());
  const known = wanted.flatMap((word) => words[word] ?? []);
  return known.length === 0 ? { left: `its matcher "${matcher}" has no counterpart here` } : { condition: either(field, known) };
}

function either(field: string, values: readonly string[]): string {
  return values.map((value) => `${field} == ${JSON.stringify(value)}`).join(" || ");
}
