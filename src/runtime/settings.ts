import { readOddFile } from "../platform/files.ts";
import type { SANDBOX_MODES, Settings } from "./settings-schema.ts";

/** `isLocalForeign`: the local file came with the repository, so it is the project's word, not the person's. */
export type SettingsFiles = { user: string; project: string; local: string; isLocalForeign?: boolean };
/** What a project brings that runs or loosens, as it stands in its files. */
export type ProjectWish = {
  hooks: unknown[];
  servers: { raw: unknown; source: string }[];
  /** What no project may choose, trusted or not; for the person to see. */
  ignored: string[];
};
/** Folders, a check and all else that the project asks for count once it is trusted. */
export type LoadedSettings = {
  settings: Settings;
  projectDirs: string[];
  projectCheck?: string;
  projectWorktree: WorktreeCommands;
  projectWish: ProjectWish;
  warnings: string[];
};
/** What the project wants run in each worktree. */
export type WorktreeCommands = { setup?: string; teardown?: string };
type Asked = {
  addDirs?: string[];
  check?: string;
  worktree?: WorktreeCommands;
  hooks?: unknown;
  mcpServers?: unknown;
  mode?: string;
  sandbox?: NonNullable<Settings["sandbox"]>;
};
export const SETTINGS_LEVELS = ["user", "project", "local"] as const;
export type SettingsLevel = (typeof SETTINGS_LEVELS)[number];
/** `text` is what stands in the file. */
type Level = { settings: Settings; warnings: string[]; text?: string };

/**
 * Merges the levels, the later over the earlier, key by key; `tools` and `team` field by field. A file that does not parse is
 * left out and named with its line. A project can't choose `bypassPermissions`, a provider or where requests go.
 */
export async function loadSettings(files: SettingsFiles): Promise<LoadedSettings> {
  const warnings: string[] = [];
  const projectDirs: string[] = [];
  const projectWish: ProjectWish = { hooks: [], servers: [], ignored: [] };
  let projectCheck: string | undefined;
  let projectWorktree: WorktreeCommands = {};
  let settings: Settings = {};
  const stricter: NonNullable<Settings["sandbox"]>[] = [];
  for (const level of SETTINGS_LEVELS) {
    const { settings: own, asked, ...read } = await settingsOf(files, level);
    warnings.push(...read.warnings);
    projectDirs.push(...(asked.addDirs ?? []));
    projectCheck = asked.check ?? projectCheck;
    projectWorktree = { ...projectWorktree, ...asked.worktree };
    if (asked.hooks !== undefined) projectWish.hooks.push(asked.hooks);
    if (asked.mcpServers !== undefined) projectWish.servers.push({ raw: asked.mcpServers, source: files[level] });
    if (asked.mode !== undefined) projectWish.ignored.push(`mode ${asked.mode}`);
    if (asked.sandbox) stricter.push(asked.sandbox);
    const sandbox = { ...settings.sandbox, ...own.sandbox };
    const worktree = { ...settings.team?.worktree, ...own.team?.worktree };
    settings = {
      ...settings,
      ...own,
      ...(own.sandbox ? { sandbox } : {}),
      tools: { ...settings.tools, ...own.tools },
      team: { ...settings.team, ...own.team, ...(Object.keys(worktree).length > 0 ? { worktree } : {}) },
    };
  }
  for (const asked of stricter) settings.sandbox = tightened(settings.sandbox, asked);
  return { settings, projectDirs, ...(projectCheck === undefined ? {} : { projectCheck }), projectWorktree, projectWish, warnings };
}

/** What one level may say; `asked` is what the project wants and counts once it is trusted. */
export async function settingsOf(files: SettingsFiles, level: SettingsLevel): Promise<Level & { asked: Asked }> {
  const { settings: own, ...read } = await readLevel(files[level]);
  const warnings = [...read.warnings];
  const asked: Asked = {};
  if (level !== "user") {
    if (own.providers) warnings.push(`${files[level]}: "providers" counts in the user's own settings only; it is ignored here.`);
    delete own.providers;
    // A command that starts with the session: also in the local file it is run only after the person saw it.
    if (own.mcpServers !== undefined) asked.mcpServers = own.mcpServers;
    delete own.mcpServers;
    if (own.permissionMode === "bypassPermissions") {
      warnings.push(`${files[level]}: a project can't choose bypassPermissions; it is ignored.`);
      asked.mode = own.permissionMode;
      delete own.permissionMode;
    }
  }
  if (level === "user" || (level === "local" && !files.isLocalForeign)) return { ...read, settings: own, warnings, asked };
  // It may ask for less, not for requests that the person has turned off.
  if (own.autoMemory) delete own.autoMemory;
  if (own.updateCheck) delete own.updateCheck;
  const { addDirs, team: { check, pane, worktree, ...others } = {}, sandbox, ...rest } = own;
  const { setup, teardown, ...ports } = worktree ?? {};
  const team = { ...others, ...(worktree ? { worktree: ports } : {}) };
  if (pane) warnings.push(`${files[level]}: "team.pane" runs programs and counts in your own settings only; it is ignored here.`);
  if (addDirs) asked.addDirs = addDirs;
  if (check !== undefined) asked.check = check;
  if (setup !== undefined || teardown !== undefined)
    asked.worktree = { ...(setup === undefined ? {} : { setup }), ...(teardown === undefined ? {} : { teardown }) };
  if (own.hooks !== undefined) asked.hooks = own.hooks;
  if (sandbox) asked.sandbox = sandbox;
  if (sandbox?.writable || sandbox?.excluded || sandbox?.mode === "off" || (sandbox?.network ?? "off") !== "off")
    warnings.push(`${files[level]}: a project can only tighten the sandbox; what would loosen it is ignored.`);
  return { ...read, settings: own.team ? { ...rest, team } : rest, warnings, asked };
}

/** Whatever the person chose, the stricter of both counts. */
function tightened(
  own: NonNullable<Settings["sandbox"]> = {},
  project: NonNullable<Settings["sandbox"]>,
): NonNullable<Settings["sandbox"]> {
  const order: readonly (typeof SANDBOX_MODES)[number][] = ["off", "auto", "required"];
  const mode = own.mode ?? "auto";
  const isStricter = project.mode !== undefined && order.indexOf(project.mode) > order.indexOf(mode);
  return { ...own, ...(isStricter ? { mode: project.mode } : {}), ...(project.network === "off" ? { network: "off" as const } : {}) };
}

/** Where it can't be told what the sandbox should be: a slip must not open what was to be closed. */
const STRICT = { sandbox: { mode: "required" } } as const;

async function readLevel(path: string): Promise<Level> {
  const { text, problem: unread } = await readOddFile(path);
  if (unread) return { settings: {}, warnings: [`${path} ${unread}. Its settings are ignored.`] };
  if (text === undefined || text.trim() === "") return { settings: {}, warnings: [] };
  const { parseDocument, LineCounter, contentOf } = await import("../platform/yaml.ts");
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const problem = document.errors[0];
  const unusable = (place: string, message = "") => ({
    settings: /^sandbox\s*:/m.test(text) ? { ...STRICT } : {},
    warnings: [`${place}: ${message.split("\n")[0]}. Its settings are ignored.`],
  });
  if (problem) return unusable(`${path}:${lines.linePos(problem.pos[0]).line}`, problem.message);
  const said = contentOf(document);
  if ("problem" in said) return unusable(path, said.problem);
  const raw = said.value;
  if (raw === null || raw === undefined) return { settings: {}, warnings: [] };
  if (typeof raw !== "object" || Array.isArray(raw))
    return { settings: {}, warnings: [`${path}: settings are a map of keys. The file is ignored.`] };

  const { SettingsSchema, TeamSchema, ToolsSchema } = await import("./settings-schema.ts");
  const warnings: string[] = [];
  const known: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(raw)) {
    const name = camelCase(key);
    if (Object.hasOwn(SettingsSchema.shape, name)) known[name] = name === "tools" || name === "team" ? withCamelCase(value) : value;
    else warnings.push(`${path}:${lineOf(text, key)}: there is no setting "${key}".`);
  }
  for (const [section, schema] of Object.entries({ tools: ToolsSchema, team: TeamSchema }))
    for (const key of unknownFields(known[section], schema.shape))
      warnings.push(`${path}:${lineOf(text, section, key)}: there is no setting "${section}.${key}".`);
  const parsed = SettingsSchema.safeParse(known);
  if (parsed.success) return { settings: parsed.data, warnings, text };
  const bad = new Set(parsed.error.issues.map((issue) => String(issue.path[0])));
  for (const issue of parsed.error.issues) {
    const outcome = issue.path[0] === "sandbox" ? "Commands run only inside the OS sandbox until it is mended." : "It is ignored.";
    warnings.push(`${path}:${lineOf(text, ...issue.path.map(String))}: ${issue.path.join(".")}: ${issue.message}. ${outcome}`);
  }
  const rest = Object.fromEntries(Object.entries(known).filter(([key]) => !bad.has(key)));
  return { settings: { ...SettingsSchema.parse(rest), ...(bad.has("sandbox") ? STRICT : {}) }, warnings, text };
}

function camelCase(key: string): string {
  return key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function withCamelCase(section: unknown): unknown {
  if (typeof section !== "object" || section === null || Array.isArray(section)) return section;
  return Object.fromEntries(Object.entries(section).map(([key, value]) => [camelCase(key), value]));
}

function unknownFields(section: unknown, fields: object): string[] {
  return typeof section === "object" && section !== null ? Object.keys(section).filter((key) => !Object.hasOwn(fields, key)) : [];
}

/** Where the key stands that the path leads to, or the last of its parents that is found. Both spellings of a key are looked for. */
export function lineOf(text: string, ...path: string[]): number {
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
