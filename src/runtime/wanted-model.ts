import type { Surroundings } from "./surroundings.ts";

type Asked = Pick<Surroundings, "flags" | "env" | "settings">;

/** Each of these alone makes a provider without any settings. */
export const PROVIDER_VARIABLES = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"];

/** The model that was named: by flag, environment or settings, in this order. */
export function wantedModel({ flags, env, settings }: Asked): string | undefined {
  return flags.model ?? env.ROOCODE_MODEL ?? settings.model;
}

/** `local` is whatever a local server offers, unless a provider has a model of that name. */
export function wantsLocal(asked: Asked): boolean {
  return wantedModel(asked) === "local" && !asked.settings.providers?.some(({ model }) => model === "local");
}

export function hasNoProvider({ settings, env }: Asked): boolean {
  return (settings.providers ?? []).length === 0 && PROVIDER_VARIABLES.every((name) => !env[name]);
}
