import picomatch from "picomatch";
import { foreignNames, toolsNamed } from "../../protocol/tool-names.ts";
import { underClock } from "../search/under-clock.ts";
import { type Comparison, type Expression, parseExpression } from "./parse-condition.ts";

/** What a condition may ask for, by the names of FIELDS; `paths` are absolute, `roots` what they may be written relative to. */
export type Facts = {
  values: Readonly<Record<string, unknown>>;
  input: unknown;
  paths: readonly string[];
  roots: readonly string[];
  home: string;
};

/** A regular expression or a glob did not come to its end: whether the condition holds can't be told. */
export class Undecided extends Error {}

export type Condition = {
  text: string;
  expression: Expression;
  /** Said where the hook is read; the hook works all the same. */
  doubts: string[];
};

const MATCH_MS = 100;

/** Throws an Error that says what is wrong and where. */
export function readCondition(text: string): Condition {
  const expression = parseExpression(text);
  const doubts = comparisons(expression).flatMap(({ field, operator, value }) =>
    field === "tool" && (operator === "==" || operator === "!=") && typeof value === "string" && toolsNamed(value, "deny") === undefined
      ? [`there is no tool "${value}"`]
      : [],
  );
  return { text, expression, doubts };
}

/** Throws Undecided. */
export function holds(expression: Expression, facts: Facts): boolean {
  switch (expression.type) {
    case "or":
      return expression.parts.some((part) => holds(part, facts));
    case "and":
      return expression.parts.every((part) => holds(part, facts));
    case "not":
      return !holds(expression.part, facts);
    case "comparison":
      return compare(expression, facts);
  }
}

function comparisons(expression: Expression): Comparison[] {
  switch (expression.type) {
    case "or":
    case "and":
      return expression.parts.flatMap(comparisons);
    case "not":
      return comparisons(expression.part);
    case "comparison":
      return [expression];
  }
}

function compare({ field, operator, value }: Comparison, facts: Facts): boolean {
  const spellings = spellingsOf(field, facts);
  switch (operator) {
    case "is":
      return spellings.some((one) => one !== undefined && one !== "" && one !== false);
    case "==":
      return spellings.some((one) => isEqual(field, one, value, facts));
    case "!=":
      return !spellings.some((one) => isEqual(field, one, value, facts));
    case "matches":
      return field === "path"
        ? isMatched(homeIn(String(value), facts.home), texts(spellings))
        : isMatched(withoutSlash(String(value)), texts(spellings).map(withoutSlash));
    case "=~":
      return isFound(value, field === "tool" ? withForeign(texts(spellings), facts) : texts(spellings));
    case "!~":
      return !isFound(value, field === "tool" ? withForeign(texts(spellings), facts) : texts(spellings));
  }
}

/** A path goes by its full name and by those from each root. */
function spellingsOf(field: string, { values, input, paths, roots }: Facts): unknown[] {
  if (field === "path") {
    const below = paths.flatMap((path) => roots.flatMap((root) => (path.startsWith(`${root}/`) ? [path.slice(root.length + 1)] : [])));
    return [...paths, ...below];
  }
  if (!field.startsWith("input.")) return [values[field]];
  let value = input;
  for (const key of field.slice("input.".length).split("."))
    value = typeof value === "object" && value !== null && Object.hasOwn(value, key) ? new Map(Object.entries(value)).get(key) : undefined;
  return [value];
}

function isEqual(field: string, given: unknown, wanted: Comparison["value"], facts: Facts): boolean {
  if (given === wanted) return true;
  if (typeof given === "number" || typeof given === "boolean") return String(given) === String(wanted);
  if (field !== "tool" || typeof given !== "string" || typeof wanted !== "string") return false;
  return toolsNamed(wanted, purposeOf(facts))?.includes(given) ?? false;
}

/** A hook that can refuse takes away: the name means all that it may mean. */
function purposeOf({ values }: Facts): "grant" | "deny" {
  return values.event === "pre_tool_use" || values.event === "permission_request" ? "deny" : "grant";
}

/** Names by which an expression may mean a tool. */
function withForeign(names: readonly string[], facts: Facts): string[] {
  return [...names, ...foreignNames(names, purposeOf(facts))];
}

/** As Glob and Grep read one; without a slash it is about the last part. A line feed in a path is a character like any other. */
function isMatched(glob: string, all: readonly string[]): boolean {
  const options = { dot: true, basename: !glob.includes("/"), flags: "s" };
  return decided(`"${glob}"`, () => {
    const matches = picomatch(glob, options);
    return all.some((text) => matches(text));
  });
}

/** In what is no path, such as a command, a slash is a character like any other. */
function withoutSlash(text: string): string {
  return text.replaceAll("/", "\u2044");
}

function isFound(expression: Comparison["value"], all: readonly string[]): boolean {
  return expression instanceof RegExp && decided(`/${expression.source}/`, () => all.some((text) => expression.test(text)));
}

function decided(name: string, match: () => boolean): boolean {
  const found = underClock(MATCH_MS)(match);
  if (found === undefined) throw new Undecided(`${name} found no end within ${MATCH_MS} ms`);
  return found;
}

function texts(values: readonly unknown[]): string[] {
  return values.flatMap((value) => (typeof value === "string" ? [value] : typeof value === "number" ? [String(value)] : []));
}

function homeIn(pattern: string, home: string): string {
  return pattern.startsWith("~/") ? home + pattern.slice(1) : pattern;
}
