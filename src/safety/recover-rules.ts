import { parseRuleBody, type Rule, type RuleEffect, type RuleLevel } from "./rules.ts";

/**
 * The deny and ask rules of a settings file that does not parse, as far as its lines show them: what a person forbade must not be
 * allowed by a slip somewhere else in the file. Its allow rules are void until it is mended.
 */
export function recoverRules(text: string, file: string, level: RuleLevel): Rule[] {
  const rules: Rule[] = [];
  let effect: RuleEffect | undefined;
  let depth = 0;
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*#/.test(line)) continue;
    const indent = /^\s*/.exec(line)?.[0].length ?? 0;
    const [before = "", ...lists] = line.split(/(?<![\w-])["']?(?=(?:allow|ask|deny)["']?\s*:(?:\s|$))/);
    // Another key at the side of the list, or further out, ends it.
    if (indent <= depth && /^[\s{,]*["']?[\w-]+["']?\s*:(?:\s|$)/.test(before)) effect = undefined;
    for (const [at, piece] of [before, ...lists].entries()) {
      const opened = at === 0 ? undefined : /^(allow|ask|deny)["']?\s*:(.*)$/.exec(piece);
      if (opened) {
        effect = effectOf(opened[1]);
        depth = indent;
      }
      if (effect === undefined || effect === "allow") continue;
      for (const body of ruleTexts(opened ? (opened[2] ?? "") : piece)) {
        const rule = parseRuleBody(effect, body, level);
        if (!("warning" in rule)) rules.push({ ...rule, source: `${file}:${index + 1}` });
      }
    }
  }
  return rules;
}

function effectOf(word: string | undefined): RuleEffect | undefined {
  return word === "allow" || word === "ask" || word === "deny" ? word : undefined;
}

/** `Tool(pattern)` or the name of a tool, quoted or not, wherever they stand in a line of a list. A pattern without its end is taken up to the line's. */
function ruleTexts(line: string): string[] {
  const items = line.replace(/^\s*-\s*/, "").replace(/\s+#.*$/, "");
  const found = items.matchAll(/(?:^|[\s,[{"'])([A-Za-z*][\w*]*)(\((?:[^()]|\([^()]*\))*\)|\(.*$)?(?=$|[\s,\]}"'])/g);
  return [...found].flatMap(([, tool = "", spec]) => {
    if (spec === undefined) return /^(\*|mcp__[\w*]+|[A-Z]\w+)$/.test(tool) ? [tool] : [];
    return [`${tool}${spec.endsWith(")") ? spec : `${spec.replace(/["'\],}\s]*$/, "")})`}`];
  });
}
