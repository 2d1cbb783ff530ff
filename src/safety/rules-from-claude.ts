import { isRecord } from "../protocol/record.ts";
import { toolsNamed } from "../protocol/tool-names.ts";
import { parseRuleBody, type RuleEffect, ruleDoubt } from "./rules.ts";

export type ConvertedRules = Record<RuleEffect, string[]> & { left: string[] };

const EFFECTS: readonly RuleEffect[] = ["allow", "ask", "deny"];
/** They stand for a family of tools here as there. */
const FAMILIES: readonly string[] = ["Read", "Edit"];

/** The `permissions` of a Claude Code settings file in our form. A name that grants means its namesake, one that takes away all that it may mean. */
export function rulesFromClaude(permissions: unknown): ConvertedRules {
  const converted: ConvertedRules = { allow: [], ask: [], deny: [], left: [] };
  if (permissions === undefined) return converted;
  if (!isRecord(permissions)) return { ...converted, left: ["permissions: it is no map of lists"] };
  for (const [key, value] of Object.entries(permissions)) {
    const effect = EFFECTS.find((one) => one === key);
    if (effect === undefined) converted.left.push(`permissions.${key}: it is not taken over`);
    else for (const rule of Array.isArray(value) ? value : [value]) take(rule, effect, converted);
  }
  return converted;
}

function take(rule: unknown, effect: RuleEffect, converted: ConvertedRules): void {
  const [, name, rest = ""] = typeof rule === "string" ? (/^\s*([^\s()]+)\s*((?:\([\s\S]*\))?)\s*$/.exec(rule) ?? []) : [];
  if (name === undefined) {
    converted.left.push(`permissions.${effect}: ${JSON.stringify(rule)} is not of the form Tool or Tool(pattern)`);
    return;
  }
  const tools = FAMILIES.includes(name) || name.startsWith("mcp__") ? [name] : toolsNamed(name, effect === "allow" ? "grant" : "deny");
  if (!tools || tools.length === 0) {
    converted.left.push(`permissions.${effect}: ${JSON.stringify(rule)} names no tool that there is here`);
    return;
  }
  for (const tool of tools) {
    const text = `${tool}${rest}`;
    const read = parseRuleBody(effect, text, "user");
    const doubt = "warning" in read ? read.warning : ruleDoubt(read);
    if (doubt?.includes("covers nothing") || "warning" in read) converted.left.push(`permissions.${effect}: ${doubt}`);
    else if (!converted[effect].includes(text)) converted[effect].push(text);
  }
}
