import { dirname } from "node:path";
import { type FrontMatter, fieldFlag, fieldList, fieldOf, fieldText, oddForm, readFrontMatter } from "../../platform/front-matter.ts";
import { toolsNamed } from "../../protocol/tool-names.ts";
import { isFolderSkill, type SkillSource, stemOf } from "./skill-files.ts";

export type Skill = SkillSource & {
  name: string;
  description: string;
  whenToUse?: string;
  tags: readonly string[];
  /** Rules without their effect, in the names of this program; undefined when nothing is taken away. */
  allowedTools?: readonly string[];
  mode: "inline" | "fork";
  model?: string;
  /** What is to be typed behind its name. */
  argumentHint?: string;
  /** Its model may load it, the person may type it. */
  isForModel: boolean;
  isForPerson: boolean;
  body: string;
  /** Of a skill that is a folder: where its other files lie. */
  folder?: string;
};
/** Undefined for a document that lies beside skills. */
export type ReadSkill = { skill: Skill; remarks: string[] } | { refusal: string } | undefined;

const STANDARD_FIELDS = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];
const OWN_FIELDS = [
  ...["when_to_use", "tags", "allowedTools", "mode", "model", "arguments", "argument-hint"],
  ...["disable-model-invocation", "user-invocable", "context", "version"],
];
const BESIDE = /^(readme|changelog|contributing|license|security|code_of_conduct|agents|claude|gemini|index|template)\b/i;
const MAX_DESCRIPTION = 1024;
const MAX_NAME = 64;

/** One file as a skill. What breaks a rule is a remark; only what can't be used at all is refused. */
export function readSkill(text: string, source: SkillSource): ReadSkill {
  const stem = stemOf(source.file);
  const matter = readFrontMatter(text);
  if ("refusal" in matter) return { refusal: `line ${matter.refusal.line}: ${matter.refusal.text}` };
  // In other products' folders a skill is a folder; RooCode's own hold single files too.
  if (!matter.isThere && !isFolderSkill(source.file) && (!source.isOwn || BESIDE.test(stem))) return undefined;
  if (!matter.isThere) return { refusal: "line 1: there is no front matter (--- name: … description: … ---)" };
  const description = fieldText(matter, "description");
  const place = `line ${fieldOf(matter, "description")?.line ?? 1}`;
  if (description === undefined) return { refusal: `${place}: there is no description` };
  if (typeof fieldOf(matter, "description")?.value === "object")
    return { refusal: `${place}: the description is a list or mapping, no text` };

  const remarks = [...oddForm(text), ...matter.problems.map(({ line, text: problem }) => `line ${line}: ${problem}`)];
  if (matter.body === "") remarks.push("there is no text below the front matter");
  const name = skillName(fieldText(matter, "name") ?? stem);
  const allowed = allowedTools(matter, remarks);
  const whenToUse = fieldText(matter, "when_to_use");
  const model = fieldText(matter, "model");
  const argumentHint = fieldText(matter, "argument-hint") ?? fieldText(matter, "arguments");
  remarks.push(...modelRemark(matter));
  remarks.push(...nameRemarks(matter, stem), ...fieldRemarks(matter, source.isOwn));
  remarks.push(...["name", "description"].flatMap((field) => typeRemark(matter, field)));
  if (description.length > MAX_DESCRIPTION)
    remarks.push(`the description has ${description.length} characters, more than ${MAX_DESCRIPTION}`);
  return {
    skill: {
      ...source,
      name,
      description,
      ...(whenToUse === undefined ? {} : { whenToUse }),
      tags: fieldList(matter, "tags") ?? [],
      ...(allowed ? { allowedTools: allowed } : {}),
      mode: modeOf(matter, remarks),
      ...(model === undefined || model === "inherit" ? {} : { model }),
      ...(argumentHint === undefined ? {} : { argumentHint }),
      isForModel: fieldFlag(matter, "disable-model-invocation") !== true,
      isForPerson: fieldFlag(matter, "user-invocable") !== false,
      body: matter.body,
      ...(isFolderSkill(source.file) ? { folder: dirname(source.file) } : {}),
    },
    remarks,
  };
}

/** A bare `true` or `42` is no text to YAML; it is taken for what stands there. */
export function typeRemark(matter: FrontMatter, name: string): string[] {
  const field = fieldOf(matter, name);
  const isOdd = field !== undefined && field.value !== null && typeof field.value !== "string";
  return isOdd ? [`line ${field.line}: the ${name} is no text to YAML; put it in quotes`] : [];
}

/** Another maker's name may be one that a provider here knows, or none. */
export function modelRemark(matter: FrontMatter): string[] {
  const model = fieldText(matter, "model");
  if (model === undefined || /^(inherit|default|haiku|sonnet|opus|fable|best|opusplan)$|^claude-/i.test(model)) return [];
  return [`line ${fieldOf(matter, "model")?.line}: the model "${model}" may be unknown here`];
}

/** As it is typed behind a slash: no blanks. */
export function skillName(text: string): string {
  return text
    .trim()
    .replaceAll(/[^\p{L}\p{N}_:.-]+/gu, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, MAX_NAME);
}

export function modeOf(matter: FrontMatter, remarks: string[]): Skill["mode"] {
  // Claude Code's word for it is `context: fork`.
  const mode = fieldText(matter, "mode") ?? (fieldText(matter, "context") === "fork" ? "fork" : undefined);
  if (mode === "fork" || mode === "inline" || mode === undefined) return mode ?? "inline";
  remarks.push(`line ${fieldOf(matter, "mode")?.line}: mode "${mode}" is neither inline nor fork; it counts as inline`);
  return "inline";
}

/** `Bash(git add *)` keeps what stands in parentheses. A name that nobody knows grants nothing and is said. */
export function allowedTools(matter: FrontMatter, remarks: string[]): string[] | undefined {
  const listed = fieldList(matter, "allowed-tools");
  if (listed === undefined || listed.includes("*")) return undefined;
  const line = fieldOf(matter, "allowed-tools")?.line;
  return listed.flatMap((entry) => {
    const [, name = entry, spec = ""] = /^([^\s()]+)(\(.*\))?$/s.exec(entry) ?? [];
    const meant = toolsNamed(name, "grant");
    if (meant === undefined) remarks.push(`line ${line}: there is no tool "${name}"`);
    return (meant ?? []).map((tool) => `${tool}${spec}`);
  });
}

function nameRemarks(matter: FrontMatter, stem: string): string[] {
  const written = fieldText(matter, "name");
  if (written === undefined) return [`there is no name; it is called after its file, ${stem}`];
  return [
    ...(written === stem ? [] : [`the name "${written}" is not that of its folder or file, ${stem}`]),
    ...(/^[a-z0-9]+(-[a-z0-9]+)*$/.test(written) ? [] : [`the name "${written}" has more than small letters, digits and hyphens`]),
    ...(written.length > MAX_NAME ? [`the name has more than ${MAX_NAME} characters`] : []),
  ];
}

function fieldRemarks(matter: FrontMatter, isOwn: boolean): string[] {
  const plain = (name: string) => name.replaceAll(/[-_]/g, "").toLowerCase();
  const known = new Set([...STANDARD_FIELDS, ...(isOwn ? OWN_FIELDS : [])].map(plain));
  const others = [...matter.fields.values()].map(({ name }) => name).filter((name) => !known.has(plain(name)));
  return others.length === 0 ? [] : [`fields beyond the standard: ${others.join(", ")}`];
}
