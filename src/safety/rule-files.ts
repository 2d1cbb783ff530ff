import { readOddFile } from "../platform/files.ts";
import { keepOutOfGit } from "../platform/git-exclude.ts";
import { addToLists } from "../platform/yaml-lists.ts";
import { isRecord } from "../protocol/record.ts";
import { parseRuleBody, type Rule, type RuleEffect, type RuleLevel, type RuleSet, ruleDoubt } from "./rules.ts";

/** `isLocalForeign`: the local file came with the repository; its rules count as the project's. */
export type RuleFiles = { user: string; project: string; local: string; isLocalForeign?: boolean };
type LevelRules = { rules: readonly Rule[]; warnings: readonly string[] };

const LEVELS: readonly ("user" | "project" | "local")[] = ["user", "project", "local"];
const EFFECTS: readonly RuleEffect[] = ["allow", "ask", "deny"];

/**
 * Reads the three levels anew at each call. A file that does not parse leaves the last good rules of its level. `warn` hears each
 * warning once.
 */
export function ruleReader(files: RuleFiles, warn: (text: string) => void = () => undefined): () => Promise<RuleSet> {
  const good = new Map<string, { text: string; level: LevelRules }>();
  const said = new Set<string>();
  return async () => {
    const levels = await Promise.all(
      LEVELS.map((level) => readLevel(files[level], level === "local" && files.isLocalForeign ? "project" : level, good)),
    );
    const warnings = levels.flatMap((level) => level.warnings);
    for (const warning of warnings.filter((each) => !said.has(each))) {
      said.add(warning);
      warn(warning);
    }
    return { rules: levels.flatMap((level) => level.rules), warnings };
  };
}

async function readLevel(file: string, level: RuleLevel, good: Map<string, { text: string; level: LevelRules }>): Promise<LevelRules> {
  const { text = "", problem } = await readOddFile(file);
  const before = good.get(file);
  if (!problem && before?.text === text) return before.level;
  const read = problem ? { ...NOTHING, problem: `${file} ${problem}.` } : await parseLevel(text, file, level);
  if (read.problem !== undefined) {
    const what = before
      ? "The last good rules stay."
      : read.recovered !== undefined
        ? `Its allow rules are off until it is mended; ${recoveredText(read.recovered)}.`
        : read.rules.length > 0
          ? "The other rules of the file count."
          : "None of its rules count until it is mended.";
    return { rules: before?.level.rules ?? read.rules, warnings: [...read.warnings, `${read.problem} ${what}`] };
  }
  good.set(file, { text, level: read });
  return read;
}

function recoveredText(count: number): string {
  if (count === 0) return "no deny or ask rule could be read from it";
  return count === 1 ? "the one deny or ask rule that could be read counts" : `the ${count} deny and ask rules that could be read count`;
}

/** `problem`: not all of the rules could be read. `recovered`: so many were read from the lines of a file that does not parse. */
type ReadRules = LevelRules & { problem?: string; recovered?: number };
const NOTHING: LevelRules = { rules: [], warnings: [] };

async function parseLevel(text: string, file: string, level: RuleLevel): Promise<ReadRules> {
  if (text.trim() === "") return NOTHING;
  const { isNode, LineCounter, parseDocument, contentOf } = await import("../platform/yaml.ts");
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  const said = error ? { problem: error.message } : contentOf(document);
  if ("problem" in said) {
    const { recoverRules } = await import("./recover-rules.ts");
    const rules = recoverRules(text, file, level);
    const place = error ? `${file}:${lines.linePos(error.pos[0]).line}` : file;
    return { rules, warnings: [], recovered: rules.length, problem: `${place}: ${said.problem}.` };
  }
  const content = said.value;
  if (!isRecord(content) || content.permissions === undefined) return NOTHING;
  const placeOf = (...path: readonly (string | number)[]): string => {
    const node: unknown = document.getIn(["permissions", ...path], true);
    const start = isNode(node) ? node.range?.[0] : undefined;
    return start === undefined ? file : `${file}:${lines.linePos(start).line}`;
  };
  if (!isRecord(content.permissions))
    return { ...NOTHING, problem: `${placeOf()}: "permissions" is not a map with the lists allow, ask and deny.` };
  return fromLists(content.permissions, placeOf, level);
}

/** A rule or a list that is written wrongly takes no other with it. */
function fromLists(lists: Record<string, unknown>, placeOf: (...path: (string | number)[]) => string, level: RuleLevel): ReadRules {
  const rules: Rule[] = [];
  const warnings: string[] = [];
  const problems: string[] = [];
  for (const effect of EFFECTS) {
    const given = lists[effect];
    if (given === undefined || given === null) continue;
    if (!Array.isArray(given)) problems.push(`${placeOf(effect)}: "permissions.${effect}" is not a list of texts.`);
    // A prohibition counts also where the dash before it was forgotten.
    const list: unknown[] = Array.isArray(given) ? given : effect !== "allow" && typeof given === "string" ? [given] : [];
    for (const [index, text] of list.entries()) {
      const place = Array.isArray(given) ? placeOf(effect, index) : placeOf(effect);
      if (typeof text !== "string") {
        problems.push(`${place}: a rule of "permissions.${effect}" is not a text.`);
        continue;
      }
      const rule = parseRuleBody(effect, text, level);
      if ("warning" in rule) warnings.push(`${place}: ${rule.warning}`);
      else {
        rules.push({ ...rule, source: place });
        const doubt = ruleDoubt(rule);
        if (doubt) warnings.push(`${place}: ${doubt}`);
      }
    }
  }
  return { rules, warnings, ...(problems.length > 0 ? { problem: problems.join(" ") } : {}) };
}

/** Adds allow rules to the local settings; comments and everything else of the file stay as they are. */
export async function addLocalRules(localFile: string, rules: readonly string[]): Promise<void> {
  await addToLists(localFile, [{ path: ["permissions", "allow"], items: rules }]);
  await keepOutOfGit(localFile);
}
