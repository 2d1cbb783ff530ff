import { parseRuleBody, type Rule, type RuleEffect } from "../safety/rules.ts";
import { rulesFromClaude } from "../safety/rules-from-claude.ts";
import type { GlobalFlags } from "./surroundings.ts";

const FLAG_OF: Readonly<Record<"allow" | "deny", string>> = { allow: "--allowedTools", deny: "--disallowedTools" };
/** Members of a team are programs of their own, which these rules would not reach. */
const NO_TEAM: Rule = { effect: "deny", tool: "TeamCreate", level: "local", text: "TeamCreate", source: FLAG_OF.deny };

/** Rules of the command line, as other agents' callers spell them: `Read,Bash(git status:*)`. They count like those of the local settings. */
export function flagRules({ allowedTools = [], disallowedTools = [] }: GlobalFlags): { rules: Rule[]; warnings: string[] } {
  const deny = disallowedTools.flatMap(wordsOf);
  const found = rulesFromClaude({ allow: allowedTools.flatMap(wordsOf), deny });
  const parse = (effect: Exclude<RuleEffect, "ask">): Rule[] =>
    found[effect].flatMap((text) => {
      const rule = parseRuleBody(effect, text, "local");
      return "warning" in rule ? [] : [{ ...rule, source: FLAG_OF[effect] }];
    });
  const warnings = found.left.map((text) =>
    text.replace(/^permissions\.(allow|deny): /, (_, effect) => `${effect === "allow" ? FLAG_OF.allow : FLAG_OF.deny}: `),
  );
  return { rules: [...parse("allow"), ...parse("deny"), ...(deny.length > 0 ? [NO_TEAM] : [])], warnings };
}

/** Commas and blanks part them, but not inside of the brackets of one. */
function wordsOf(list: string): string[] {
  return list.match(/[^\s,(]+(?:\([^)]*\))?/g) ?? [];
}
