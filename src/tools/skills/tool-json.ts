import { join } from "node:path";
import * as z from "zod";
import { readOddFile } from "../../platform/files.ts";
import { isRecord } from "../../protocol/record.ts";

const MAX_NAME = 64;
/** Each stands in every request from its loading on. */
const MAX_TOOLS = 50;
const MAX_CHARACTERS = 200_000;

const JsonSchema = z.record(z.string(), z.unknown());
const ToolSchema = z.object({
  name: z.string().regex(/^[A-Za-z0-9_-]+$/, { error: "has letters, digits, _ and - only" }),
  description: z.string().min(1),
  /** Any of the names that JSON schemas of tools go by. */
  schema: JsonSchema.optional(),
  inputSchema: JsonSchema.optional(),
  input_schema: JsonSchema.optional(),
  /** A command line for bash, run in the working folder; `$SKILL_DIR` is the skill's folder. */
  command: z.string().min(1),
  timeoutMs: z.int().min(1).max(600_000).optional(),
});
export type SkillToolDefinition = {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  command: string;
  timeoutMs?: number;
};

/** The tools that a skill's folder brings: `tool.json` holds one, a list, or `{"tools": […]}`. A tool that can't be used costs only itself. */
export async function readToolJson(skill: string, folder: string): Promise<{ tools: SkillToolDefinition[]; problems: string[] }> {
  const file = join(folder, "tool.json");
  const { text, problem } = await readOddFile(file);
  if (text === undefined) return { tools: [], problems: problem === undefined ? [] : [`${file} ${problem}`] };
  if (text.length > MAX_CHARACTERS) return { tools: [], problems: [`${file} has more than ${MAX_CHARACTERS} characters`] };
  const content = parsed(text);
  if ("problem" in content) return { tools: [], problems: [`${file} is no JSON: ${content.problem}`] };
  const { value } = content;
  const all: unknown[] = Array.isArray(value) ? value : isRecord(value) && Array.isArray(value.tools) ? value.tools : [value];
  const tools: SkillToolDefinition[] = [];
  const problems = all.length > MAX_TOOLS ? [`${file} has ${all.length} tools; only the first ${MAX_TOOLS} count`] : [];
  const entries = all.slice(0, MAX_TOOLS);
  for (const [index, entry] of entries.entries()) {
    const found = readTool(skill, entry);
    const isDouble = typeof found !== "string" && tools.some(({ name }) => name === found.name);
    if (isDouble) problems.push(`${file}: tool ${index + 1}: another one before it has its name`);
    else if (typeof found === "string") problems.push(`${file}: tool ${index + 1}: ${found}`);
    else tools.push(found);
  }
  return { tools, problems };
}

function readTool(skill: string, entry: unknown): SkillToolDefinition | string {
  const found = ToolSchema.safeParse(entry);
  if (!found.success) return found.error.issues.map((issue) => `${issue.path.join(".") || "it"}: ${issue.message}`).join("; ");
  const { name, description, command, timeoutMs, ...schemas } = found.data;
  const inputSchema = schemas.schema ?? schemas.inputSchema ?? schemas.input_schema ?? { type: "object", properties: {} };
  const fault = schemaFault(inputSchema);
  if (fault !== undefined) return `schema: ${fault}`;
  const whole = toolName(skill, name);
  if (whole.length > MAX_NAME) return `name: with the skill's it has more than ${MAX_NAME} characters (${whole})`;
  return { name: whole, description, inputSchema, command, ...(timeoutMs ? { timeoutMs } : {}) };
}

/** What a model's server would refuse, and with it every request of the session from then on. */
function schemaFault({ type, properties = {}, required = [], ...rest }: Record<string, unknown>): string | undefined {
  if (type !== "object") return `is of type ${JSON.stringify(type)}, it has to be "object"`;
  if (!isRecord(properties)) return "properties is no object";
  if (!Array.isArray(required) || !required.every((name) => typeof name === "string")) return "required is no list of names";
  const odd = Object.keys(properties).find((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name));
  if (odd !== undefined) return `models take no parameter that is called ${JSON.stringify(odd.slice(0, 80))}`;
  const choice = ["anyOf", "oneOf", "allOf", "$ref"].find((key) => key in rest);
  return choice === undefined ? undefined : `models take no ${choice} at the top`;
}

/** No other tool has such a name. */
export function toolName(skill: string, name: string): string {
  return `skill__${skill.replaceAll(/[^A-Za-z0-9_-]/g, "_")}__${name}`;
}

function parsed(text: string): { value: unknown } | { problem: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
