import { splitFrontMatter } from "./front-matter-head.ts";
import { contentOf, isMap, isScalar, LineCounter, parseDocument } from "./yaml.ts";

/** `line` counts from 1 in the whole file. */
export type FrontMatterProblem = { line: number; text: string };

/** `source` is the value as it is written. */
export type FrontMatterField = { name: string; value: unknown; source: string; line: number };

/**
 * A Markdown file with its head. `isThere` is false for a file without one: `body` is all of it then. `problems` are said to the person;
 * the fields can be used all the same. They are found by `fieldText` and its siblings.
 */
export type FrontMatter = {
  isThere: boolean;
  body: string;
  problems: readonly FrontMatterProblem[];
  fields: ReadonlyMap<string, FrontMatterField>;
};

/**
 * Strict YAML first; where that fails, field by field, and a field that is no YAML is taken as the text that stands there: people
 * write `description: Two modes: fast and safe`. A refusal is for what has no fields to be found.
 */
export function readFrontMatter(file: string): FrontMatter | { refusal: FrontMatterProblem } {
  const split = splitFrontMatter(file);
  if (split.type === "body") return { isThere: false, body: split.body, problems: [], fields: new Map() };
  if (split.type === "open")
    return { refusal: { line: split.line, text: "the front matter that begins here is not closed by a line ---" } };
  const { yaml, firstLine, body } = split;
  const strict = strictFields(yaml, firstLine);
  if ("fields" in strict) return { isThere: true, body, problems: strict.warnings, fields: strict.fields };
  const fields = tolerantFields(yaml, firstLine);
  if (fields.size === 0) return { refusal: strict.problem };
  return { isThere: true, body, problems: [strict.problem], fields };
}

/** How the file is written, where that is not the usual way; it is read all the same. */
export function oddForm(file: string): string[] {
  return [
    ...(file.startsWith("\uFEFF") ? ["begins with a byte order mark"] : []),
    ...(file.includes("\uFFFD") ? ["holds bytes that are no UTF-8"] : []),
    ...(file.includes("\r") ? ["has line ends other than LF"] : []),
    ...(/^\uFEFF?\s*\r?\n---/.test(file) ? ["has blank lines before its front matter"] : []),
    ...(/^ *\t/m.test(headOf(file)) ? ["has tabs in its front matter"] : []),
  ];
}

function headOf(file: string): string {
  return /^\uFEFF?\s*---[^\n]*\n([\s\S]*?)\n---/.exec(file)?.[1] ?? "";
}

/** `allowedTools`, `allowed-tools` and `allowed_tools` are one. */
export function fieldOf({ fields }: FrontMatter, name: string): FrontMatterField | undefined {
  return fields.get(plainName(name));
}

/** Numbers and truth values as text; a list or mapping as it is written. Undefined when absent or empty. */
export function fieldText(matter: FrontMatter, name: string): string | undefined {
  const field = fieldOf(matter, name);
  if (field === undefined || field.value === null || field.value === undefined) return undefined;
  const text = typeof field.value === "object" ? field.source : String(field.value);
  return text.trim() === "" ? undefined : text.trim();
}

/** A YAML list, or words between commas or blanks; what stands in parentheses stays together, as in `Bash(git add *)`. */
export function fieldList(matter: FrontMatter, name: string): string[] | undefined {
  const value = fieldOf(matter, name)?.value;
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value)) return value.filter((item) => item !== null).map((item: unknown) => wordOf(item));
  return words(fieldText(matter, name) ?? "");
}

/** "odd" for what is neither true nor false. */
export function fieldFlag(matter: FrontMatter, name: string): boolean | "odd" | undefined {
  const text = fieldText(matter, name)?.toLowerCase();
  if (text === undefined) return undefined;
  return text === "true" || text === "yes" ? true : text === "false" || text === "no" ? false : "odd";
}

type StrictFields = { fields: Map<string, FrontMatterField>; warnings: FrontMatterProblem[] };

function strictFields(yaml: string, firstLine: number): StrictFields | { problem: FrontMatterProblem } {
  const lines = new LineCounter();
  const document = parseDocument(yaml, { lineCounter: lines, strict: true, uniqueKeys: true, prettyErrors: false });
  const lineAt = (offset: number) => lines.linePos(offset).line + firstLine - 1;
  const said = ({ pos, message }: { pos: [number, number]; message: string }, what: string): FrontMatterProblem => ({
    line: lineAt(pos[0]),
    text: `${what}: ${message.split("\n")[0]}`,
  });
  const error = document.errors[0];
  if (error) return { problem: said(error, "no valid YAML") };
  const warnings = document.warnings.map((warning) => said(warning, "odd YAML"));
  if (document.contents === null) return { fields: new Map(), warnings };
  if (!isMap(document.contents)) return { problem: { line: firstLine, text: "the front matter is no list of `name: value`" } };
  const content = contentOf(document);
  if ("problem" in content) return { problem: { line: firstLine, text: content.problem } };
  const fields = new Map<string, FrontMatterField>();
  for (const { key, value } of document.contents.items) {
    const name = isScalar(key) ? String(key.value) : String(key);
    const [from, to] = value?.range ?? [0, 0];
    const parsed: unknown = value?.toJS(document, { maxAliasCount: 50 });
    fields.set(plainName(name), { name, value: parsed, source: yaml.slice(from, to), line: lineAt(key.range?.[0] ?? 0) });
  }
  return { fields, warnings };
}

/** Names that begin a field where the block is no YAML: a line `user: …` is then part of a description that runs on. */
const KNOWN_FIELDS = new Set(
  (
    "name description whentouse tools allowedtools disallowedtools tags mode model arguments argumenthint version license author authors " +
    "category color permissionmode maxturns isolation background skills memory hooks mcpservers prompt agent context effort " +
    "userinvocable disablemodelinvocation compatibility metadata globs applyto type created"
  ).split(" "),
);

function tolerantFields(yaml: string, firstLine: number): Map<string, FrontMatterField> {
  const fields = new Map<string, FrontMatterField>();
  let open: { name: string; line: number; lines: string[] } | undefined;
  const close = () => {
    if (open) fields.set(plainName(open.name), tolerantField(open.name, open.lines, open.line));
  };
  for (const [index, line] of yaml.split("\n").entries()) {
    const name = /^([A-Za-z][\w-]*)[ \t]*:(?=[ \t]|$)/.exec(line)?.[1];
    const isNew = name !== undefined && KNOWN_FIELDS.has(plainName(name)) && !fields.has(plainName(name));
    if (isNew && plainName(name) !== plainName(open?.name ?? "")) {
      close();
      open = { name, line: index + firstLine, lines: [line] };
    } else open?.lines.push(line);
  }
  close();
  return fields;
}

function tolerantField(name: string, lines: readonly string[], line: number): FrontMatterField {
  const strict = strictFields(lines.join("\n"), line);
  const field = "fields" in strict ? strict.fields.get(plainName(name)) : undefined;
  if (field) return field;
  const [first = "", ...more] = lines;
  const head = first.slice(first.indexOf(":") + 1).trim();
  const source = [head.replace(/^[|>][+-]?$/, ""), ...more.map((each) => each.trim())].filter((each) => each !== "").join(" ");
  return { name, value: unquoted(source), source, line };
}

function unquoted(text: string): string {
  return /^(["'])([\s\S]*)\1$/.exec(text)?.[2] ?? text;
}

function words(text: string): string[] {
  const inner = /^\[([\s\S]*)\]$/.exec(text.trim())?.[1] ?? text;
  const separator = outside(inner).includes(",") ? "," : /\s/;
  const found: string[] = [""];
  let depth = 0;
  for (const character of inner) {
    if (character === "(") depth += 1;
    if (character === ")") depth = Math.max(0, depth - 1);
    const isBetween = depth === 0 && (separator === "," ? character === "," : separator instanceof RegExp && separator.test(character));
    if (isBetween) found.push("");
    else found[found.length - 1] += character;
  }
  return found.map((word) => unquoted(word.trim())).filter((word) => word !== "");
}

/** The text without what stands in parentheses. */
function outside(text: string): string {
  return text.replaceAll(/\([^)]*\)/g, "");
}

/** An item of a list; `Bash(git: x)` unquoted in a list is a mapping to YAML. */
function wordOf(item: unknown): string {
  if (typeof item !== "object" || item === null) return String(item).trim();
  return Object.entries(item)
    .map(([key, value]) => `${key}: ${String(value)}`)
    .join(", ");
}

function plainName(name: string): string {
  return name.replaceAll(/[-_]/g, "").toLowerCase();
}
