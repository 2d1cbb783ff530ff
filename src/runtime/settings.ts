import * as z from "zod";
import { ProvidersSchema } from "../engine/providers/settings.ts";
import { readTextOrUndefined } from "../platform/files.ts";
import { PERMISSION_MODES } from "../protocol/permission.ts";
import { BACKEND_KINDS } from "../protocol/team.ts";

const ToolsSchema = z.object({
  allowWrite: z.boolean().optional(),
  allowBash: z.boolean().optional(),
  bashTimeout: z.int().min(1).max(600_000).optional(),
});
const TeamSchema = z.object({
  teammates: z.int().min(1).max(16).optional(),
  backend: z.enum(["auto", ...BACKEND_KINDS]).optional(),
  check: z.string().optional(),
  orphanTimeoutMs: z.int().min(0).optional(),
});

/** Settings of one level. Sections that a room owns are checked by that room; here they only have to be there. */
const SettingsSchema = z.looseObject({
  model: z.string().optional(),
  providers: ProvidersSchema.optional(),
  permissionMode: z.enum(PERMISSION_MODES).optional(),
  permissions: z.looseObject({}).optional(),
  addDirs: z.array(z.string()).optional(),
  tools: ToolsSchema.optional(),
  hooks: z.unknown().optional(),
  mcpServers: z.unknown().optional(),
  sandbox: z.unknown().optional(),
  team: TeamSchema.optional(),
  enableVerificationAgent: z.boolean().optional(),
});
export type Settings = Pick<
  z.output<typeof SettingsSchema>,
  "model" | "providers" | "permissionMode" | "addDirs" | "tools" | "mcpServers" | "team"
>;

const KNOWN_KEYS = new Set(Object.keys(SettingsSchema.shape));
const SECTIONS = [
  ["tools", new Set(Object.keys(ToolsSchema.shape))],
  ["team", new Set(Object.keys(TeamSchema.shape))],
] as const;

const WITHOUT_EFFECT = ["hooks", "sandbox", "enableVerificationAgent"];

/** `isLocalForeign`: the local file came with the repository, so it is the project's word, not the person's. */
export type SettingsFiles = { user: string; project: string; local: string; isLocalForeign?: boolean };
/** `projectDirs` are folders that the project asks for; they count once it is trusted. */
export type LoadedSettings = { settings: Settings; projectDirs: string[]; warnings: string[] };
type Level = { settings: Settings; warnings: string[] };

/**
 * Merges the levels, the later over the earlier, key by key; `tools` and `team` field by field. A file that does not parse is
 * left out and named with its line. A project can't choose `bypassPermissions`, a provider, where requests go or what is started.
 */
export async function loadSettings(files: SettingsFiles): Promise<LoadedSettings> {
  const warnings: string[] = [];
  const projectDirs: string[] = [];
  let settings: Settings = {};
  for (const level of ["user", "project", "local"] as const) {
    const read = await readLevel(files[level]);
    warnings.push(...read.warnings);
    const { settings: own } = read;
    if (level !== "user") {
      if (own.providers) warnings.push(`${files[level]}: "providers" counts in the user's own settings only; it is ignored here.`);
      delete own.providers;
      if (own.mcpServers) warnings.push(`${files[level]}: "mcpServers" counts in the user's own settings only; it is ignored here.`);
      delete own.mcpServers;
      if (own.permissionMode === "bypassPermissions") {
        warnings.push(`${files[level]}: a project can't choose bypassPermissions; it is ignored.`);
        delete own.permissionMode;
      }
    }
    if (level === "project" || (level === "local" && files.isLocalForeign)) {
      projectDirs.push(...(own.addDirs ?? []));
      delete own.addDirs;
    }
    settings = { ...settings, ...own, tools: { ...settings.tools, ...own.tools }, team: { ...settings.team, ...own.team } };
  }
  return { settings, projectDirs, warnings };
}

async function readLevel(path: string): Promise<Level> {
  const text = await readTextOrUndefined(path);
  if (text === undefined || text.trim() === "") return { settings: {}, warnings: [] };
  const { parseDocument, LineCounter } = await import("../platform/yaml.ts");
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const problem = document.errors[0];
  if (problem)
    return {
      settings: {},
      warnings: [`${path}:${lines.linePos(problem.pos[0]).line}: ${problem.message.split("\n")[0]}. The file is ignored.`],
    };
  const raw: unknown = document.toJS({ maxAliasCount: 50 });
  if (raw === null || raw === undefined) return { settings: {}, warnings: [] };
  if (typeof raw !== "object" || Array.isArray(raw))
    return { settings: {}, warnings: [`${path}: settings are a map of keys. The file is ignored.`] };

  const warnings: string[] = [];
  const known: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(raw)) {
    const name = key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if (WITHOUT_EFFECT.includes(name)) warnings.push(`${path}:${lineOf(text, key)}: "${key}" has no effect in this version.`);
    if (KNOWN_KEYS.has(name)) known[name] = value;
    else warnings.push(`${path}:${lineOf(text, key)}: there is no setting "${key}".`);
  }
  for (const [section, fields] of SECTIONS)
    for (const key of unknownFields(known[section], fields))
      warnings.push(`${path}:${lineOf(text, section, key)}: there is no setting "${section}.${key}".`);
  const parsed = SettingsSchema.safeParse(known);
  if (parsed.success) return { settings: parsed.data, warnings };
  const bad = new Set(parsed.error.issues.map((issue) => String(issue.path[0])));
  for (const issue of parsed.error.issues) {
    warnings.push(`${path}:${lineOf(text, ...issue.path.map(String))}: ${issue.path.join(".")}: ${issue.message}. It is ignored.`);
  }
  const rest = Object.fromEntries(Object.entries(known).filter(([key]) => !bad.has(key)));
  return { settings: SettingsSchema.parse(rest), warnings };
}

function unknownFields(section: unknown, fields: ReadonlySet<string>): string[] {
  return typeof section === "object" && section !== null ? Object.keys(section).filter((key) => !fields.has(key)) : [];
}

/** Where the key stands that the path leads to, or the last of its parents that is found. Both spellings of a key are looked for. */
function lineOf(text: string, ...path: string[]): number {
  const lines = text.split("\n");
  let at = 0;
  for (const key of path) {
    const spelled = key.replace(/\W/g, "\\$&").replace(/[A-Z]/g, (letter) => `(?:${letter}|_${letter.toLowerCase()})`);
    const isKey = new RegExp(`(?:^|[\\s{,])["']?${spelled}["']?\\s*:`);
    const found = lines.findIndex((line, index) => index >= at && isKey.test(line));
    if (found >= 0) at = found;
  }
  return at + 1;
}
