import type { Prices } from "../../protocol/model.ts";
import table from "./models.json" with { type: "json" };

const ALIASES = ["sonnet", "opus", "haiku"] as const;
export type ModelAlias = (typeof ALIASES)[number];
export type Protocol = "anthropic" | "openai" | "openai-responses";

/** What an alias, and no model at all, means with the two providers that are known by their key. */
const CLAUDE: Readonly<Record<ModelAlias, string>> = { sonnet: "claude-sonnet-5-5", opus: "claude-opus-5-5", haiku: "claude-haiku-5-5" };
const GPT: Readonly<Record<ModelAlias, string>> = { sonnet: "gpt-5.6-terra", opus: "gpt-5.6-sol", haiku: "gpt-5.6-luna" };
const DEFAULT_ALIAS: ModelAlias = "sonnet";

export type ModelFacts = { contextWindow: number; maxOutputTokens: number; hasVision: boolean; prices: Prices };

/** What a turn of an agent needs, not what a model could do. */
const MOST_OUTPUT = 32_000;
/** Made by scripts/models.mjs. */
const TABLE: Readonly<Record<string, ModelFacts>> = table;

/** What is known of a model; a later version counts as the one before. `undefined` for a model that no table has. */
export function modelFacts(model: string): ModelFacts | undefined {
  const id = plainId(model);
  // The longest beginning that is an id counts: dates, regions and sizes stand behind.
  for (let end = id.length; end > 0; end = id.lastIndexOf("-", end - 1)) {
    const known = id.slice(0, end);
    const found = Object.hasOwn(TABLE, known) ? TABLE[known] : undefined;
    if (found) return { ...found, maxOutputTokens: Math.min(found.maxOutputTokens, MOST_OUTPUT) };
  }
  return undefined;
}

/** Without the vendor that OpenRouter and others put in front, and with one sort of separator. */
function plainId(model: string): string {
  return model
    .toLowerCase()
    .replace(/^.*\//, "")
    .replace(/^(?:\w+\.)?anthropic\./, "")
    .replace(/[.:@[]/g, "-");
}

/** For a model that no table knows: rather too small than too large. */
export function assumedLimits(protocol: Protocol, isLocal: boolean): Pick<ModelFacts, "contextWindow" | "maxOutputTokens"> {
  if (isLocal) return { contextWindow: 32_000, maxOutputTokens: 16_000 };
  return { contextWindow: protocol === "anthropic" ? 200_000 : 128_000, maxOutputTokens: 16_000 };
}

export function isAlias(text: string): text is ModelAlias {
  return ALIASES.some((alias) => alias === text);
}

/** The model of an alias; without one the default. `undefined` for providers whose models nobody knows. */
export function modelOf(provider: string, protocol: Protocol, alias: ModelAlias = DEFAULT_ALIAS): string | undefined {
  if (protocol === "anthropic") return CLAUDE[alias];
  return provider === "openai" ? GPT[alias] : undefined;
}

/** Which protocol an id of a well-known family speaks at home; OpenAI's two count as one. */
export function familyOf(model: string): "anthropic" | "openai" | undefined {
  if (/^claude-/.test(model)) return "anthropic";
  return /^(gpt-|chatgpt-|o[134](-|$))/.test(model) ? "openai" : undefined;
}
