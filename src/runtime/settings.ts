import { readTextOrUndefined } from "../platform/files.ts";
import type { Settings } from "./settings-schema.ts";

export type LoadedSettings = { settings: Settings; warnings: string[] };

/**
 * Merges the levels, the later over the earlier, key by key; `tools` and `team` field by field. A file that does not parse is
 * left out and named with its line. A project can't choose `bypassPermissions`, a provider, where requests go or what is started.
 */
export async function loadSettings(files: { user: string; project: string; local: string }): Promise<LoadedSettings> {
  const warnings: string[] = [];
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
    settings = { ...settings, ...own, tools: { ...settings.tools, ...own.tools }, team: { ...settings.team, ...own.team } };
  }
  return { settings, warnings };
}

async function readLevel(path: string): Promise<LoadedSettings> {
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

  const { SettingsSchema } = await import("./settings-schema.ts");
  const warnings: string[] = [];
  const known: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(raw)) {
    const name = key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if (Object.hasOwn(SettingsSchema.shape, name)) known[name] = value;
    else warnings.push(`${path}:${lineOf(text, key)}: there is no setting "${key}".`);
  }
  const parsed = SettingsSchema.safeParse(known);
  if (parsed.success) return { settings: parsed.data, warnings };
  const bad = new Set(parsed.error.issues.map((issue) => String(issue.path[0])));
  for (const issue of parsed.error.issues) {
    warnings.push(`${path}:${lineOf(text, String(issue.path.at(-1)))}: ${issue.path.join(".")}: ${issue.message}. It is ignored.`);
  }
  const rest = Object.fromEntries(Object.entries(known).filter(([key]) => !bad.has(key)));
  return { settings: SettingsSchema.parse(rest), warnings };
}

function lineOf(text: string, key: string): number {
  const at = text.split("\n").findIndex((line) => line.trimStart().startsWith(`${key}:`));
  return at < 0 ? 1 : at + 1;
}
