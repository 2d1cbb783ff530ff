import type { PermissionDecision } from "../protocol/permission.ts";
import { hasStar } from "./patterns.ts";
import { isWebSpec } from "./web-domain.ts";

const RULE_LEVELS = ["local", "project", "user", "granted"] as const;
/** `granted` are rules that the system itself gives an agent; a person's rules of any level come first. */
export type RuleLevel = (typeof RULE_LEVELS)[number];
export type RuleEffect = "allow" | "ask" | "deny";
/** `source`: the file and line that it stands in. */
export type Rule = { effect: RuleEffect; tool: string; spec?: string; level: RuleLevel; text: string; source?: string };
export type RuleSet = { rules: readonly Rule[]; warnings: readonly string[] };
export type RuleVerdict = { decision: PermissionDecision["decision"]; rule: Rule };

export const READ_TOOLS: readonly string[] = ["ReadFile", "Glob", "Grep"];
export const WRITE_TOOLS: readonly string[] = ["WriteFile", "EditFile"];
const SHELLS = /^(ba|z|k|da|fi|a|c|tc)?sh$/;
const NEVER_BY_WILDCARD = /^(eval|source|\.|sudo|doas)$/;

/** `<effect> <Tool>` or `<effect> <Tool>(<spec>)`; a void rule is a warning, never an error. */
function parseRule(text: string, level: RuleLevel): Rule | { warning: string } {
  const match = /^\s*(allow|ask|deny)\s+(.+?)\s*$/s.exec(text);
  if (!match) return { warning: `The rule "${text}" is ignored: it does not begin with allow, ask or deny.` };
  return parseRuleBody(match[1] === "allow" ? "allow" : match[1] === "ask" ? "ask" : "deny", match[2] ?? "", level);
}

export function parseRuleBody(effect: RuleEffect, body: string, level: RuleLevel): Rule | { warning: string } {
  const match = /^([^\s()]+)(?:\(([\s\S]*)\))?$/.exec(body.trim());
  const shown = `${effect} ${body.trim()}`;
  if (!match) return { warning: `The rule "${shown}" is ignored: it is not of the form Tool or Tool(pattern).` };
  const tool = match[1] ?? "";
  const spec = match[2]?.trim();
  if (effect !== "deny" && (tool === "*" || /^mcp__(\*|[^_]*\*.*)?$/.test(tool) || /^mcp__\*/.test(tool)))
    return { warning: `The rule "${shown}" is ignored: a star for a whole tool or server is valid for deny only.` };
  const isBare = spec === undefined || spec === "" || spec === "*";
  return { effect, tool, level, text: body.trim(), ...(isBare && spec !== "*" ? {} : spec === undefined ? {} : { spec }) };
}

/** Rules as they stand in settings or on a command line, with the warnings for those that can't count. */
export function ruleSet(sources: Partial<Record<RuleLevel, readonly string[]>>): RuleSet {
  const rules: Rule[] = [];
  const warnings: string[] = [];
  for (const level of RULE_LEVELS) {
    for (const text of sources[level] ?? []) {
      const rule = parseRule(text, level);
      if ("warning" in rule) warnings.push(rule.warning);
      else {
        rules.push(rule);
        const doubt = ruleDoubt(rule);
        if (doubt) warnings.push(doubt);
      }
    }
  }
  return { rules, warnings };
}

/** What a rule says, with where it stands. */
export function ruleDecision({ decision, rule }: RuleVerdict): PermissionDecision {
  const reason = `the ${rule.level} rule "${rule.effect} ${rule.text}"`;
  return { decision, sticky: false, layer: "rule", rule: rule.text, ...(rule.source ? { source: rule.source } : {}), reason };
}

/** Any deny of any level decides; then the highest level with an ask or an allow, ask before allow. */
export function judgeRules(set: RuleSet, isTrusted: boolean, matches: (rule: Rule) => boolean): RuleVerdict | undefined {
  const found = set.rules.filter(matches);
  const deny = found.find((rule) => rule.effect === "deny");
  if (deny) return { decision: "deny", rule: deny };
  for (const level of RULE_LEVELS) {
    const here = found.filter((rule) => rule.level === level);
    const ask = here.find((rule) => rule.effect === "ask");
    if (ask) return { decision: "ask", rule: ask };
    const allow = here.find((rule) => rule.effect === "allow" && (rule.level !== "project" || isTrusted));
    if (allow) return { decision: "allow", rule: allow };
  }
  return undefined;
}

export function namesTool(rule: Rule, tool: string): boolean {
  if (rule.tool === tool) return true;
  if (rule.tool === "*") return true;
  if (rule.tool === "Read") return READ_TOOLS.includes(tool);
  if (rule.tool === "Edit") return WRITE_TOOLS.includes(tool);
  if (!rule.tool.startsWith("mcp__") || !tool.startsWith("mcp__")) return false;
  if (!rule.tool.includes("*")) return tool.startsWith(`${rule.tool}__`);
  return starTool(rule.tool, tool);
}

function starTool(pattern: string, tool: string): boolean {
  const parts = pattern.split("*");
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const found =
      index === 0
        ? tool.startsWith(part)
          ? 0
          : -1
        : index === parts.length - 1 && part
          ? tool.length - part.length
          : tool.indexOf(part, at);
    if (found < at || tool.slice(found, found + part.length) !== part) return false;
    at = found + part.length;
  }
  return true;
}

const TOOLS =
  /^(\*|mcp__.*|skill__.*|Read|Edit|ReadFile|WriteFile|EditFile|Glob|Grep|Bash|WebFetch|Agent|ToolSearch|LoadSkill|AskUserQuestion|ExitPlanMode|Task(Create|Get|List|Update|Stop)|SendMessage|TeamCreate|Converge)$/;

/** A rule that covers nothing, or an allow with a wildcard that covers a program which runs anything else. */
export function ruleDoubt(rule: Rule): string | undefined {
  if (!TOOLS.test(rule.tool)) return `The rule "${rule.effect} ${rule.text}" covers nothing: there is no tool "${rule.tool}".`;
  if (rule.tool === "WebFetch" && rule.spec !== undefined && !isWebSpec(rule.spec))
    return `The rule "${rule.effect} ${rule.text}" covers nothing: write WebFetch(domain:example.com), or an address with https:// or http://.`;
  if (rule.tool !== "Bash" || rule.effect !== "allow" || !rule.spec || !hasStar(rule.spec)) return undefined;
  const program = rule.spec.split(/[\s:*]/)[0] ?? "";
  if (SHELLS.test(program) || NEVER_BY_WILDCARD.test(program))
    return `The rule "allow ${rule.text}" covers nothing: "${program}" runs any text, so only a rule with the exact command counts.`;
  if (/^(npx|bunx|pnpx|uvx|xargs|env)$/.test(program)) return `The rule "allow ${rule.text}" lets "${program}" run any program.`;
  return undefined;
}

export function isShellName(program: string): boolean {
  return SHELLS.test(program);
}
