import { type KnownProvider, knownProviders, type SelectedModel, selectModel } from "../engine/providers/select.ts";
import { exists } from "../platform/files.ts";
import { projectPaths } from "../platform/paths.ts";
import { UserError } from "../protocol/errors.ts";
import type { Rule } from "../safety/rules.ts";
import { projectRules } from "./permissions.ts";
import { lineOf, SETTINGS_LEVELS, type SettingsFiles, type SettingsLevel, settingsOf } from "./settings.ts";
import type { Surroundings } from "./surroundings.ts";
import { PROVIDER_VARIABLES, wantedModel, wantsLocal } from "./wanted-model.ts";

type SettingSource = "flag" | "environment" | SettingsLevel | "default";
/** `place` is file:line, the flag or the variable. */
type SettingInForce = { key: string; value: unknown; source: SettingSource; place?: string };
export type ModelInForce = Omit<SelectedModel, "client"> & { why: string };
export type ConfigReport = {
  files: { level: SettingsLevel; path: string; exists: boolean }[];
  settings: SettingInForce[];
  /** The model that a session would begin with, or why there is none. */
  model: ModelInForce | { error: string };
  providers: KnownProvider[];
  rules: Pick<Rule, "effect" | "text" | "level">[];
  environment: { name: string; isSet: boolean }[];
  problems: string[];
  /** Worth knowing, and no mistake. */
  notes: string[];
};

/** What holds where nobody says otherwise. */
export const DEFAULTS: readonly (readonly [key: string, value: unknown])[] = [
  ["permissionMode", "default"],
  ["tools.allowWrite", true],
  ["tools.allowBash", true],
  ["tools.bashTimeout", 120_000],
  ["toolLoading", "native"],
  ["sandbox.mode", "auto"],
  ["sandbox.network", "off"],
  ["screen", "auto"],
  ["theme", "auto"],
  ["team.teammates", 4],
  ["team.backend", "auto"],
  ["team.orphanTimeoutMs", 1_800_000],
];
const OTHER_VARIABLES = ["ROOCODE_MODEL", "ROOCODE_HOME", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"];
const SECTIONS: readonly string[] = ["tools", "sandbox", "team"];

/** Each setting with where it comes from. Reads the files once more: a usual start keeps no origins. */
export async function configReport(surroundings: Surroundings): Promise<ConfigReport> {
  const { data, env, projectRoot, isLocalForeign, settings } = surroundings;
  const project = projectPaths(projectRoot);
  const files = { user: data.config, project: project.config, local: project.localConfig, isLocalForeign };
  const rules = await projectRules(surroundings);
  const ruleSet = await rules.rules();
  const model = modelInForce(surroundings);
  const providers = "error" in model ? wholeProviders(surroundings) : knownProviders({ providers: settings.providers ?? [], env });
  const keys = providers.flatMap(({ keyVariable }) => (keyVariable ? [keyVariable] : []));
  return {
    files: await Promise.all(SETTINGS_LEVELS.map(async (level) => ({ level, path: files[level], exists: await exists(files[level]) }))),
    settings: await settingsInForce(surroundings, files),
    model,
    providers,
    rules: ruleSet.rules.map(({ effect, text, level }) => ({ effect, text, level })),
    environment: [...new Set([...PROVIDER_VARIABLES, ...keys, ...OTHER_VARIABLES])].map((name) => ({ name, isSet: Boolean(env[name]) })),
    problems: [
      ...fallbackProblem(surroundings),
      ...surroundings.warnings,
      ...rules.warnings.filter((one) => one !== rules.untrusted),
      ...ruleSet.warnings.filter((one) => !rules.warnings.includes(one)),
    ],
    notes: rules.untrusted === undefined ? [] : [rules.untrusted],
  };
}

async function settingsInForce(surroundings: Surroundings, files: SettingsFiles): Promise<SettingInForce[]> {
  const { flags, env } = surroundings;
  const found = new Map<string, SettingInForce>(DEFAULTS.map(([key, value]) => [key, { key, value, source: "default" }]));
  for (const level of SETTINGS_LEVELS) {
    const { settings, asked, text = "" } = await settingsOf(files, level);
    const say = (value: unknown, ...path: string[]) => {
      const key = path.join(".");
      found.set(key, { key, value: shown(key, value), source: level, place: `${files[level]}:${lineOf(text, ...path)}` });
    };
    for (const [key, value] of Object.entries(settings)) {
      // Rules of all levels count together and stand by themselves.
      if (key === "permissions" || value === undefined) continue;
      if (!SECTIONS.includes(key)) say(value, key);
      else for (const [field, one] of Object.entries(value ?? {})) say(one, key, field);
    }
    if (asked.addDirs) say(asked.addDirs, "addDirs");
    for (const field of ["mode", "network"] as const)
      if (asked.sandbox?.[field] !== undefined && asked.sandbox[field] === surroundings.settings.sandbox?.[field])
        say(asked.sandbox[field], "sandbox", field);
    if (asked.worktree && !found.has("team.worktree")) say(asked.worktree, "team", "worktree");
    if (asked.check !== undefined && !found.has("team.check")) say(asked.check, "team", "check");
  }
  const flag = (key: string, value: unknown, place: string) => {
    if (value !== undefined) found.set(key, { key, value, source: "flag", place });
  };
  if (env.ROOCODE_MODEL !== undefined)
    found.set("model", { key: "model", value: env.ROOCODE_MODEL, source: "environment", place: "ROOCODE_MODEL" });
  flag("model", flags.model, "--model");
  flag("fallbackModel", flags.fallbackModel, "--fallback-model");
  flag("permissionMode", flags.permissionMode, "--permission-mode");
  if (flags.addDir?.length) found.set("--add-dir", { key: "addDirs", value: flags.addDir, source: "flag", place: "--add-dir" });
  return [...found.values()].sort((one, other) => one.key.localeCompare(other.key));
}

/** Headers, bodies and a server's environment are where people write secrets down: their names have to do. */
function shown(key: string, value: unknown): unknown {
  if (key === "providers" && Array.isArray(value)) return value.map(({ name }: { name: string }) => name);
  if (key === "mcpServers" && typeof value === "object" && value !== null) return Object.keys(value);
  return value;
}

function modelInForce(surroundings: Surroundings): ModelInForce | { error: string } {
  const { settings, env } = surroundings;
  const providers = settings.providers ?? [];
  if (wantsLocal(surroundings)) return { error: 'The model is "local": what a local server offers is looked for at the start.' };
  try {
    const { client: _, ...model } = selectModel({ providers, model: wantedModel(surroundings), env });
    const provider = knownProviders({ providers, env }).find(({ name }) => name === model.provider);
    return { ...model, why: provider ? whyOf(provider) : "" };
  } catch (error) {
    if (error instanceof UserError) return { error: error.message };
    throw error;
  }
}

/** A session does not begin with a fallback model that it can't have. */
function fallbackProblem({ flags, settings, env }: Surroundings): string[] {
  const model = flags.fallbackModel ?? settings.fallbackModel;
  try {
    if (model !== undefined) selectModel({ providers: settings.providers ?? [], model, env });
    return [];
  } catch (error) {
    if (error instanceof UserError) return [`fallbackModel: ${error.message}`];
    throw error;
  }
}

function whyOf({ name, from, keyVariable, hasKey }: KnownProvider): string {
  const key = keyVariable === undefined || !hasKey ? "without a key" : `with the key of ${keyVariable}`;
  return from === "settings" ? `provider "${name}" of the settings, ${key}` : `provider "${name}" of the environment, ${key}`;
}

/** One that is not whole hides no other. */
function wholeProviders({ settings, env }: Surroundings): KnownProvider[] {
  const tries = [...(settings.providers ?? []).map((one) => [one]), []];
  const found = tries.flatMap((providers) => {
    try {
      return knownProviders({ providers, env });
    } catch (error) {
      if (error instanceof UserError) return [];
      throw error;
    }
  });
  return found.filter(({ name }, index) => found.findIndex((one) => one.name === name) === index);
}
