import { basename } from "node:path";
import { type FrontMatter, fieldFlag, fieldList, fieldOf, fieldText, readFrontMatter } from "../../platform/front-matter.ts";
import { type DefinitionMode, PERMISSION_MODES } from "../../protocol/permission.ts";
import { toolsNamed } from "../../protocol/tool-names.ts";

/** Beside the permission modes: every call is allowed, where the definition is the user's own or a built-in one. */
const DEFINITION_MODES: readonly DefinitionMode[] = [...PERMISSION_MODES, "dontAsk"];
/** Names of models that leave the choice to the one who starts the agent. */
const ANY_MODEL = new Set(["inherit", "default", "best", "fable", "opusplan"]);
const ALIASES = new Set(["sonnet", "opus", "haiku"]);
const MAX_NAME = 64;
/** Markdown that lies beside definitions and is none. */
const NO_DEFINITION = /^(readme|changelog|contributing|license|security|code_of_conduct|agents|claude|gemini|index|template)(\b|[-_.])/i;

const MEMORY_SCOPES = ["user", "project", "none"] as const;

/** What a Markdown file says of a kind of sub-agent; tool names are RooCode's own. */
export type DefinitionFields = {
  name: string;
  description: string;
  prompt: string;
  /** Undefined: all that a sub-agent may have. `mcp__server__*` stands for all of a server. */
  tools?: readonly string[];
  disallowedTools: readonly string[];
  /** As it is written; undefined for the model of the one who starts it. */
  model?: string;
  maxTurns?: number;
  permissionMode?: DefinitionMode;
  isolation?: "worktree";
  background: boolean;
  skills: readonly string[];
  /** Which memories it begins with; all of them when absent. */
  memory?: (typeof MEMORY_SCOPES)[number];
  /** Of commands only those that provably look run. */
  commands?: "read-only";
};

export type ReadDefinition = { name: string } & (
  | { verdict: "load" | "warn"; reason: string; fields: DefinitionFields }
  | { verdict: "refuse"; reason: string }
);

/** Undefined for a file that is no definition, such as a README. `file` is only named. */
export function readDefinition(text: string, file: string): ReadDefinition | undefined {
  const stem = basename(file).replace(/\.(agent|prompt|chatmode|instructions)?\.?md$/i, "");
  const refuse = (line: number, reason: string): ReadDefinition => ({
    name: stem,
    verdict: "refuse",
    reason: `${file}:${line}: ${reason}`,
  });
  const head = readFrontMatter(text);
  if ("refusal" in head) return refuse(head.refusal.line, head.refusal.text);
  if (!head.isThere) return NO_DEFINITION.test(basename(file)) ? undefined : refuse(1, "it has no front matter (---, fields, ---).");
  const description = fieldText(head, "description");
  if (description === undefined) return refuse(1, "it has no description: the model chooses an agent by it.");
  const name = fieldText(head, "name") ?? stem;
  // An empty body takes nothing away from a prompt that stands in the front matter.
  const prompt = head.body === "" ? fieldText(head, "prompt") : head.body;
  if (prompt === undefined) return refuse(1, "it has no prompt: neither text behind the front matter nor a field `prompt`.");

  const warnings = [
    ...faultsOf(text),
    ...head.problems.map((problem) => `line ${problem.line}: ${problem.text}`),
    ...oddFields(head, name),
  ];
  if (head.body === "") warnings.push("its prompt stands in the front matter, and no text behind that");
  const remarks: string[] = [];
  const fields = { name, description, prompt, ...toolFields(head, remarks), ...runFields(head, remarks) };
  const said = [...warnings, ...remarks];
  return {
    name,
    verdict: warnings.length > 0 ? "warn" : "load",
    reason: said.length === 0 ? "" : `${file}: ${said.join("; ")}.`,
    fields,
  };
}

/** Of the file's bytes: it is read all the same. */
function faultsOf(text: string): string[] {
  const faults: string[] = [];
  if (text.startsWith("\uFEFF")) faults.push("it begins with a byte order mark");
  if (text.includes("\r")) faults.push("its lines end in carriage returns");
  if (/^\s*\n---/.test(text.replace(/^\uFEFF/, ""))) faults.push("blank lines stand before its front matter");
  const head = /^\uFEFF?\s*---[^\n]*\n([\s\S]*?)\n(?:---|\.\.\.)/.exec(text)?.[1] ?? "";
  if (/^ *\t/m.test(head)) faults.push("its front matter is indented with tabs");
  return faults;
}

function oddFields(head: FrontMatter, name: string): string[] {
  const odd: string[] = [];
  const wanted = fieldText(head, "name");
  if (wanted === undefined) odd.push(`it has no name and is called "${name}", as its file`);
  for (const field of ["name", "description"]) {
    const value = fieldOf(head, field)?.value;
    if (value !== undefined && value !== null && typeof value !== "string") odd.push(`its ${field} is no text`);
  }
  if (name.length > MAX_NAME) odd.push(`its name has more than ${MAX_NAME} characters`);
  const model = fieldText(head, "model");
  if (model !== undefined && !isUsualModel(model)) odd.push(`its model "${model}" counts only where a provider of yours has it`);
  return odd;
}

function isUsualModel(model: string): boolean {
  const name = model.toLowerCase();
  return ANY_MODEL.has(name) || ALIASES.has(name) || name.startsWith("claude-");
}

function toolFields(head: FrontMatter, remarks: string[]): Pick<DefinitionFields, "tools" | "disallowedTools"> {
  const granted = toolWords(head, "tools") ?? toolWords(head, "allowedTools");
  const denied = toolWords(head, "disallowedTools") ?? [];
  const unknown = new Set<string>();
  const named = (words: readonly string[], purpose: "grant" | "deny") =>
    words.flatMap((word) => {
      const found = toolsNamed(word.replace(/\(.*\)$/s, "").trim(), purpose);
      if (found === undefined) unknown.add(word);
      return found ?? [];
    });
  const tools = granted === undefined || granted.includes("*") ? undefined : named(granted, "grant");
  const disallowedTools = named(denied, "deny");
  if (unknown.size > 0) remarks.push(`RooCode knows no tool ${[...unknown].join(", ")}`);
  const limited = (granted ?? []).filter((word) => /^Bash\(/.test(word));
  if (limited.length > 0) remarks.push(`${limited.join(", ")} gives it Bash; which commands run is decided by the permission rules`);
  return { ...(tools === undefined ? {} : { tools: [...new Set(tools)] }), disallowedTools: [...new Set(disallowedTools)] };
}

/** A field without a value says nothing; an empty list does. */
function toolWords(head: FrontMatter, field: string): string[] | undefined {
  return Array.isArray(fieldOf(head, field)?.value) || fieldText(head, field) !== undefined ? fieldList(head, field) : undefined;
}

function runFields(
  head: FrontMatter,
  remarks: string[],
): Omit<DefinitionFields, "name" | "description" | "prompt" | "tools" | "disallowedTools"> {
  /** One of a few words; another one is told and does not count. */
  const oneOf = <Word extends string>(field: string, words: readonly Word[]): Word | undefined => {
    const text = fieldText(head, field);
    const found = words.find((word) => word === text);
    if (text !== undefined && found === undefined) remarks.push(`${field} "${text}" is none of ${words.join(", ")}`);
    return found;
  };
  const model = fieldText(head, "model");
  const turns = fieldText(head, "maxTurns");
  const hasTurns = turns !== undefined && /^[1-9]\d{0,4}$/.test(turns);
  if (turns !== undefined && !hasTurns) remarks.push(`maxTurns "${turns}" is no number of turns`);
  const background = fieldFlag(head, "background");
  if (background === "odd") remarks.push("background is neither true nor false");
  const permissionMode = oneOf("permissionMode", DEFINITION_MODES);
  const isolation = oneOf("isolation", ["worktree"] as const);
  const memory = fieldFlag(head, "memory") === false ? ("none" as const) : oneOf("memory", MEMORY_SCOPES);
  const commands = oneOf("commands", ["read-only"] as const);
  return {
    ...(model === undefined || ANY_MODEL.has(model.toLowerCase()) ? {} : { model }),
    ...(hasTurns ? { maxTurns: Number(turns) } : {}),
    ...(permissionMode ? { permissionMode } : {}),
    ...(isolation ? { isolation } : {}),
    background: background === true,
    skills: fieldList(head, "skills") ?? [],
    ...(memory ? { memory } : {}),
    ...(commands ? { commands } : {}),
  };
}
