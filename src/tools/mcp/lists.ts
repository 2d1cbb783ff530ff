import type { Client } from "@modelcontextprotocol/client";
import * as z from "zod";
import { headerFault } from "./mcp-headers.ts";
import { repairSchema } from "./repair-schema.ts";

const MAX_PAGES = 100;
const MAX_ENTRIES = 1_000;

const ToolSchema = z.object({
  name: z.string().min(1),
  title: z.string().nullish(),
  description: z.string().nullish(),
  inputSchema: z.unknown().optional(),
  annotations: z.looseObject({ readOnlyHint: z.boolean().nullish(), idempotentHint: z.boolean().nullish() }).nullish(),
});
const ResourceSchema = z.object({
  uri: z.string().min(1),
  name: z.string().nullish(),
  description: z.string().nullish(),
  mimeType: z.string().nullish(),
});
const TemplateSchema = z.object({ uriTemplate: z.string().min(1), name: z.string().nullish(), description: z.string().nullish() });
const PromptSchema = z.object({
  name: z.string().min(1),
  description: z.string().nullish(),
  arguments: z.array(z.object({ name: z.string(), description: z.string().nullish(), required: z.boolean().nullish() })).nullish(),
});

export type RemoteTool = Omit<z.output<typeof ToolSchema>, "inputSchema"> & { inputSchema: Record<string, unknown> };
export type RemoteResource = z.output<typeof ResourceSchema>;
export type RemoteTemplate = z.output<typeof TemplateSchema>;
export type RemotePrompt = z.output<typeof PromptSchema>;
export type Listed<Entry> = { entries: Entry[]; problems: string[] };
type Options = { signal: AbortSignal; timeout: number };

/** Each tool is checked by itself, where the SDK's own listing throws all away for one that is wrong, and mended where it can be. */
export async function listTools(client: Client, options: Options): Promise<Listed<RemoteTool>> {
  const listed = await list(client, "tools/list", "tools", ToolSchema, options);
  const isOverHttp = client.getProtocolEra() === "modern";
  const entries: RemoteTool[] = [];
  const problems = [...listed.problems];
  for (const tool of listed.entries) {
    const repaired = repairSchema(tool.inputSchema);
    const fault = "fault" in repaired ? repaired.fault : isOverHttp ? headerFault(repaired.schema) : undefined;
    if (fault === undefined && "schema" in repaired) entries.push({ ...tool, inputSchema: repaired.schema });
    else problems.push(`the tool "${tool.name.slice(0, 80)}" is left out: ${fault}`);
  }
  return { entries, problems };
}

export function listResources(client: Client, options: Options): Promise<Listed<RemoteResource>> {
  return list(client, "resources/list", "resources", ResourceSchema, options);
}

/** Many servers with resources know nothing of these. */
export async function listTemplates(client: Client, options: Options): Promise<Listed<RemoteTemplate>> {
  const none: Listed<RemoteTemplate> = { entries: [], problems: [] };
  return list(client, "resources/templates/list", "resourceTemplates", TemplateSchema, options).catch(() => none);
}

export function listPrompts(client: Client, options: Options): Promise<Listed<RemotePrompt>> {
  return list(client, "prompts/list", "prompts", PromptSchema, options);
}

async function list<Schema extends z.ZodType>(
  client: Client,
  method: string,
  key: string,
  schema: Schema,
  options: Options,
): Promise<Listed<z.output<Schema>>> {
  const { found, problems } = await allPages(client, method, key, options);
  const entries: z.output<Schema>[] = [];
  for (const [index, each] of found.entries()) {
    const parsed = schema.safeParse(each);
    if (parsed.success) entries.push(parsed.data);
    else problems.push(`${method}: entry ${index + 1}${nameOf(each)} is left out: ${issueOf(parsed.error)}`);
  }
  return { entries, problems };
}

/** A server that goes round in circles is left, with what it gave by then. */
async function allPages(client: Client, method: string, key: string, options: Options): Promise<{ found: unknown[]; problems: string[] }> {
  const PageSchema = z.looseObject({ [key]: z.array(z.unknown()), nextCursor: z.string().nullish() });
  const found: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer = await client.request({ method, ...(cursor === undefined ? {} : { params: { cursor } }) }, PageSchema, options);
    const more = answer[key];
    found.push(...(Array.isArray(more) ? more : []));
    if (found.length > MAX_ENTRIES)
      return { found: found.slice(0, MAX_ENTRIES), problems: [`${method}: only the first ${MAX_ENTRIES} entries are used`] };
    const next = answer.nextCursor;
    if (typeof next !== "string" || next === "") return { found, problems: [] };
    if (seen.has(next)) return { found, problems: [`${method}: the same page comes again and again; the list is taken as it is by then`] };
    seen.add(next);
    cursor = next;
  }
  return { found, problems: [`${method}: it has more than ${MAX_PAGES} pages; only these are used`] };
}

function nameOf(entry: unknown): string {
  return typeof entry === "object" && entry !== null && "name" in entry ? `, ${JSON.stringify(entry.name)?.slice(0, 80)},` : "";
}

function issueOf({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
}
