import { basename } from "node:path";
import { type Line, type Part, textOf, type Word } from "./command-line.ts";
import { pathsOf } from "./danger/finding.ts";
import { execFlag } from "./exec-flags.ts";
import { readGit } from "./git-command.ts";
import { pathIsAllowed, pathIsCovered, rulePath } from "./match-paths.ts";
import { type Ground, judgePath } from "./path-sandbox.ts";
import { hasStar, starMatcher, unescapeStars } from "./patterns.ts";
import { isShellName, namesTool, READ_TOOLS, type Rule, WRITE_TOOLS } from "./rules.ts";
import { touchesOf } from "./touches.ts";
import { isHarmless } from "./wrappers.ts";

/** A deny or an ask sees each part in every form that it has, and the files it touches. */
export function tightens(rule: Rule, part: Part, ground: Ground): boolean {
  if (namesTool(rule, "Bash")) return rule.spec === undefined || spellings(part).some(compiled(rule).matches);
  if (rule.tool === "Read" || READ_TOOLS.includes(rule.tool)) return coversFiles(rule, touchesOf(part).reads, part, ground);
  if (rule.tool === "Edit" || WRITE_TOOLS.includes(rule.tool))
    return coversFiles(rule, [...touchesOf(part).writes, ...touchesOf(part).removes], part, ground);
  return false;
}

/** A deny is also compared with the text as it was given, its runs of blanks taken for one. */
export function tightensText(rule: Rule, text: string): boolean {
  return namesTool(rule, "Bash") && rule.spec !== undefined && compiled(rule).matches(text);
}

export function allowsPart(rule: Rule, part: Part, ground: Ground): boolean {
  if (!namesTool(rule, "Bash")) return false;
  if (rule.spec === undefined) return true;
  if (part.words.length === 0 || hasOperator(rule.spec)) return false;
  const { exact, matches } = compiled(rule);
  const text = spellings(part)[0] ?? "";
  if (exact === undefined ? !matches(text) : exact !== text) return false;
  if (!part.assignments.every(isHarmless)) return false;
  return exact === undefined ? neverByWildcard(part, ground, rule.spec) === undefined : !part.runsUnknown;
}

/** A redirect from a file is a reading of it. */
export function allowsFile(rule: Rule, tool: "WriteFile" | "ReadFile", word: Word, part: Part, ground: Ground): boolean {
  if (rule.tool !== (tool === "WriteFile" ? "Edit" : "Read") && rule.tool !== tool) return false;
  const paths = pathsOf(word, part, ground);
  if (!paths || word.hasGlob) return false;
  return rule.spec === undefined || paths.every((path) => pathIsAllowed(rule.spec ?? "", rulePath(path, ground), ground));
}

/** A rule without a wildcard whose text is the whole command. */
export function isExactly(rule: Rule, line: Line): boolean {
  if (rule.tool !== "Bash" || rule.spec === undefined || hasStar(rule.spec)) return false;
  return unescapeStars(rule.spec) === line.text.trim();
}

/** Why no wildcard covers this part; undefined when one may. */
function neverByWildcard(part: Part, ground: Ground, spec: string): string | undefined {
  const first = part.words[0];
  if (!first?.isKnown) return "the command name is only known when it runs";
  const name = basename(first.text);
  if (isShellName(name) || /^(eval|source|\.|sudo|doas|su|exec|builtin|command)$/.test(name)) return `"${name}" runs any text`;
  if (part.runsUnknown || part.opened?.how === "opaque") return `"${name}" runs another command`;
  if (part.words.some((word) => word.isUnsafe)) return "an expansion in it may run code";
  if (/\s/.test(first.text)) return "the command name has a blank";
  if (first.text.includes("/") && /\*/.test(spec.split(/\s/)[0] ?? "")) return "the program is given by a path";
  return execFlag(part) ?? leavesProject(part, ground);
}

/** `-C` and `--git-dir` outside: another repository whose configuration nobody looked at. */
function leavesProject(part: Part, ground: Ground): string | undefined {
  if (part.words[0]?.text !== "git") return undefined;
  const git = readGit(part);
  const places = [...git.folders, git.gitDir, git.workTree].filter((word) => word !== undefined);
  const isOutside = (word: Word) =>
    (pathsOf(word, part, ground) ?? [""]).some((path) => judgePath(path, "read", ground, false).place !== "inside");
  return places.some(isOutside) ? "git is led to another repository" : undefined;
}

/** A part is compared with every rule. */
const SPELLINGS = new WeakMap<Part, readonly string[]>();

/** The first is the part without its assignments. */
function spellings(part: Part): readonly string[] {
  const known = SPELLINGS.get(part) ?? findSpellings(part);
  SPELLINGS.set(part, known);
  return known;
}

function findSpellings(part: Part): string[] {
  const [first, ...rest] = part.words;
  const texts = [textOf(part.words)];
  if (first) texts.push(textOf([{ ...first, text: basename(first.text) }, ...rest]));
  const prefix = part.assignments.map((each) => `${each.name}=${each.value.text}`).join(" ");
  return prefix === "" ? texts : [...texts, ...texts.map((text) => `${prefix} ${text}`.trim())];
}

/** `exact`: the one text that a rule without a wildcard means. */
type CompiledSpec = { matches: (text: string) => boolean; exact: string | undefined };

/** Rules live as long as their file stays as it is. */
const COMPILED = new WeakMap<Rule, CompiledSpec>();

function compiled(rule: Rule): CompiledSpec {
  const known = COMPILED.get(rule) ?? compile(rule.spec ?? "");
  COMPILED.set(rule, known);
  return known;
}

/** A trailing ` *` or `:*` also matches the bare prefix and stops at a word's end. */
function compile(spec: string): CompiledSpec {
  const pattern = stripQuotes(normalizeText(spec)).replace(/:\*$/, " *");
  const whole = starMatcher(pattern);
  const bare = pattern.endsWith(" *") && !pattern.endsWith("\\ *") ? starMatcher(pattern.slice(0, -2)) : () => false;
  return {
    matches: (text) => whole(text) || bare(text),
    exact: hasStar(spec) ? undefined : stripQuotes(unescapeStars(normalizeText(spec))),
  };
}

function coversFiles(rule: Rule, words: readonly Word[], part: Part, ground: Ground): boolean {
  if (words.length === 0) return false;
  if (rule.spec === undefined) return true;
  const { spec } = rule;
  return words.some((word) => {
    const paths = pathsOf(word, part, ground) ?? [word.text];
    return paths.some((path) => pathIsCovered(spec, rulePath(path, ground), ground));
  });
}

export function normalizeText(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function stripQuotes(text: string): string {
  return text.replace(/["']/g, "");
}

function hasOperator(spec: string): boolean {
  return /[;|&<>`\n]|\$\(/.test(spec);
}
