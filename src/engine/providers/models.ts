const ALIASES = ["sonnet", "opus", "haiku"] as const;
export type ModelAlias = (typeof ALIASES)[number];
export type Protocol = "anthropic" | "openai";

/** What an alias, and no model at all, means with the two providers that are known by their key. */
const CLAUDE: Readonly<Record<ModelAlias, string>> = { sonnet: "claude-sonnet-5-5", opus: "claude-opus-5-5", haiku: "claude-haiku-5-5" };
const GPT: Readonly<Record<ModelAlias, string>> = { sonnet: "gpt-5.6-terra", opus: "gpt-5.6-sol", haiku: "gpt-5.6-luna" };
const DEFAULT_ALIAS: ModelAlias = "sonnet";

type ModelLimits = { contextWindow: number; maxOutputTokens: number };
const DEFAULT_OUTPUT = 16_000;
const UNKNOWN: Readonly<Record<Protocol, ModelLimits>> = {
  anthropic: { contextWindow: 200_000, maxOutputTokens: DEFAULT_OUTPUT },
  openai: { contextWindow: 128_000, maxOutputTokens: DEFAULT_OUTPUT },
};

/** The first that fits counts. Output limits are what a turn of an agent needs, not what the model could do. */
const TABLE: readonly (readonly [pattern: RegExp, contextWindow: number, maxOutputTokens: number])[] = [
  [/claude-(opus|sonnet|fable|mythos)-5/, 1_000_000, 32_000],
  [/claude-(opus|sonnet|haiku)-(5|4-[5-9])/, 200_000, 32_000],
  [/claude-3-5/, 200_000, 8192],
  [/claude/, 200_000, DEFAULT_OUTPUT],
  [/gpt-(5\.[4-9]|6)(-\w+)?-(mini|nano)|gpt-5\.[4-9]-(mini|nano)/, 400_000, 32_000],
  [/gpt-(5\.[4-9]|6)/, 1_050_000, 32_000],
  [/gpt-5/, 400_000, 32_000],
  [/gpt-4\.1/, 1_047_576, DEFAULT_OUTPUT],
  [/gpt-4o|gpt-4-turbo/, 128_000, DEFAULT_OUTPUT],
  [/^o[134]/, 200_000, 32_000],
  [/deepseek-(v4|flash)/, 1_000_000, 32_000],
  [/deepseek/, 128_000, 8192],
  [/glm-5\.[23]/, 1_000_000, 32_000],
  [/glm-/, 200_000, 32_000],
  [/kimi-k3/, 1_000_000, 32_000],
  [/kimi/, 262_144, 32_000],
  [/qwen3-max/, 262_144, 32_000],
];

export function modelLimits(protocol: Protocol, model: string): ModelLimits {
  const found = TABLE.find(([pattern]) => pattern.test(model.toLowerCase()));
  return found ? { contextWindow: found[1], maxOutputTokens: found[2] } : UNKNOWN[protocol];
}

export function isAlias(text: string): text is ModelAlias {
  return ALIASES.some((alias) => alias === text);
}

/** The model of an alias; without one the default. `undefined` for providers whose models nobody knows. */
export function modelOf(provider: string, protocol: Protocol, alias: ModelAlias = DEFAULT_ALIAS): string | undefined {
  if (protocol === "anthropic") return CLAUDE[alias];
  return provider === "openai" ? GPT[alias] : undefined;
}

/** Which protocol an id of a well-known family speaks at home. */
export function familyOf(model: string): Protocol | undefined {
  if (/^claude-/.test(model)) return "anthropic";
  return /^(gpt-|chatgpt-|o[134](-|$))/.test(model) ? "openai" : undefined;
}
