import type { Line, Part, Word } from "./command-line.ts";
import { dangers } from "./dangerous-commands.ts";
import { type DecisionContext, join, type LayerVote } from "./layer-votes.ts";
import { allowsFile, allowsPart, isExactly, normalizeText, tightens, tightensText } from "./match-commands.ts";
import { allowedByMode, type Category } from "./modes.ts";
import { isReadOnly } from "./read-only.ts";
import { judgeRules, type Rule, type RuleVerdict, ruleDecision } from "./rules.ts";
import { visibleText } from "./suspicious-text.ts";
import { isStream } from "./touches.ts";

/** Layers 1 to 4 on a command line. */
export function decideCommand(line: Line, context: DecisionContext): LayerVote {
  const found = dangers(line, context.ground, context.mode);
  const votes: LayerVote[] = found.map((finding) => ({
    decision: finding.decision,
    sticky: finding.isSticky,
    layer: finding.layer,
    reason: finding.reason,
  }));
  const verdict = judgeParts(line, context);
  const danger = join(votes);
  const ruled = verdict.vote;
  if (danger?.decision === "deny") return shown(danger, line);
  if (ruled?.decision === "deny") return shown(ruled, line);
  const exact = context.rules.rules.find(
    (rule) => rule.effect === "allow" && (rule.level !== "project" || context.isTrusted) && isExactly(rule, line),
  );
  if (exact && ruled?.decision !== "ask")
    return { ...ruleDecision({ decision: "allow", rule: exact }), reason: `the ${exact.level} rule is exactly this command` };
  const strictest = join([...votes, ...(ruled ? [ruled] : [])]);
  if (strictest && strictest.decision !== "allow") return shown(strictest, line);
  if (strictest) return strictest;
  return byMode(line, verdict.open, context);
}

/** A command that could not be analysed: the denies that its text meets, else a person. */
export function decideUnread(text: string, context: DecisionContext): LayerVote {
  const rule = rawDeny(text, true, context);
  if (rule) return ruleDecision({ decision: "deny", rule });
  return { decision: "ask", sticky: true, layer: "danger", reason: "the command could not be checked" };
}

/** Denies are also compared with the text as it stands; where the analysis is not whole, with each piece between operators. */
function rawDeny(text: string, isPartial: boolean, { rules }: DecisionContext): Rule | undefined {
  const pieces = (isPartial ? [text, ...text.split(/[;&|\n(){}`]+/)] : [text]).map(normalizeText);
  return rules.rules.find((rule) => rule.effect === "deny" && pieces.some((piece) => tightensText(rule, piece)));
}

type Open = { category: Category; text: string };

/** Rules on every part and every redirect; `open` is what no rule decided and what is not only a reading. */
function judgeParts(line: Line, context: DecisionContext): { vote: LayerVote | undefined; open: Open[] } {
  const votes: LayerVote[] = [];
  const open: Open[] = [];
  const raw = rawDeny(line.text, line.isOverLimit, context);
  if (raw) votes.push(ruleDecision({ decision: "deny", rule: raw }));
  let covered: RuleVerdict | undefined;
  for (const part of line.parts) {
    const verdict = judgeRules(context.rules, context.isTrusted, (rule) =>
      rule.effect === "allow" ? covers(rule, part, line, context) : tightens(rule, part, context.ground),
    );
    if (verdict && verdict.decision !== "allow") votes.push(ruleDecision(verdict));
    else if (verdict) covered = verdict;
    else if (needsCover(part) && !isFree(part, line, context)) open.push({ category: "command", text: wordsText(part) });
    for (const redirect of part.redirects) {
      if (redirect.isCopy || isStream(redirect.target)) continue;
      const file = judgeRedirect(redirect.target, redirect.use, part, context);
      if (file === "open")
        open.push({ category: redirect.use, text: `${redirect.use === "write" ? "write" : "read"} ${redirect.target.text}` });
      else if (file) covered ??= file;
    }
  }
  const strict = join(votes);
  if (strict) return { vote: strict, open };
  const isCovered = open.length === 0 && covered !== undefined;
  return { vote: isCovered && covered ? ruleDecision(covered) : undefined, open };
}

function judgeRedirect(target: Word, use: "read" | "write", part: Part, context: DecisionContext): RuleVerdict | "open" | undefined {
  const tool = use === "write" ? "WriteFile" : "ReadFile";
  const allowed = judgeRules(
    context.rules,
    context.isTrusted,
    (rule) => rule.effect === "allow" && allowsFile(rule, tool, target, part, context.ground),
  );
  if (allowed) return allowed;
  return use === "read" && target.isKnown && isReadOnly({ ...part, words: [], assignments: [] }, context.ground, context.gitIsSafe)
    ? undefined
    : "open";
}

/** A transparent wrapper and a script count as what is in them. */
export function needsCover(part: Part): boolean {
  if (part.words.length === 0 && part.assignments.length === 0) return false;
  if (part.isCall && part.opened) return false;
  const opened = part.opened;
  return !(opened && opened.how !== "opaque" && opened.parts.length > 0 && !part.runsUnknown && part.assignments.length === 0);
}

function covers(rule: Rule, part: Part, line: Line, context: DecisionContext): boolean {
  if (rule.tool !== "Bash" && rule.tool !== "*") return false;
  if (rule.spec !== undefined && line.problems.length > 0) return false;
  if (allowsPart(rule, part, context.ground)) return true;
  // A rule for the whole wrapped command covers what is in the wrapper.
  return (
    part.outer?.opened?.how === "transparent" &&
    rule.spec !== undefined &&
    !rule.spec.includes("*") &&
    allowsPart(rule, part.outer, context.ground)
  );
}

function isFree(part: Part, line: Line, context: DecisionContext): boolean {
  return line.problems.length === 0 && !line.isOverLimit && isReadOnly(part, context.ground, context.gitIsSafe);
}

/** Layer 4, part by part: what is open decides. */
function byMode(line: Line, open: readonly Open[], { mode }: DecisionContext): LayerVote {
  const refused = open.find((each) => !allowedByMode(mode, each.category, false));
  if (!refused) {
    const category = open[0]?.category ?? "read";
    return {
      decision: "allow",
      sticky: false,
      layer: "mode",
      reason: open.length === 0 ? "it only reads" : `${category} is allowed in mode ${mode}`,
    };
  }
  const reason = `"${refused.text}" asks in mode ${mode}`;
  return shown({ decision: "ask", sticky: false, layer: "mode", reason, parts: open.map((each) => each.text) }, line);
}

function shown(vote: LayerVote, line: Line): LayerVote {
  const reason = visibleText(vote.reason);
  const parts = vote.parts ?? line.parts.filter(needsCover).slice(0, 20).map(wordsText);
  return { ...vote, reason, parts: parts.map(visibleText) };
}

function wordsText(part: Part): string {
  const assignments = part.assignments.map((each) => `${each.name}=${each.value.text}`);
  return [...assignments, ...part.words.map((word) => word.text)].join(" ");
}
