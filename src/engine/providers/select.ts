import { UserError } from "../../protocol/errors.ts";
import type { ModelClient } from "../../protocol/model.ts";
import { anthropicClient } from "./anthropic.ts";
import { familyOf, isAlias, type ModelAlias, modelLimits, modelOf, type Protocol } from "./models.ts";
import { openAIClient } from "./openai.ts";
import { PRESETS } from "./presets.ts";
import type { ProviderSettings } from "./settings.ts";
import type { StreamLimits } from "./stream-answer.ts";

export type Environment = Readonly<Record<string, string | undefined>>;
export type SelectModelOptions = {
  providers: readonly ProviderSettings[];
  /** `[provider/]id`, an alias, or nothing for the default. */
  model?: string | undefined;
  env: Environment;
  limits?: StreamLimits;
};
export type SelectedModel = { client: ModelClient; provider: string; model: string; contextWindow: number; maxOutputTokens: number };

/** A provider with all that presets and environment add to its settings. */
type Provider = Omit<ProviderSettings, "protocol" | "baseUrl"> & { protocol: Protocol; baseUrl: string };

const NO_PROVIDER = [
  "No model provider is configured. Set ANTHROPIC_API_KEY or OPENAI_API_KEY,",
  "or start a local server such as Ollama and name it in ~/.roocode/config.yaml (providers: [{name: ollama, model: …}]),",
  "or point baseUrl there at any server with Anthropic's or OpenAI's protocol.",
  'To look around without a model: "roocode demo".',
].join("\n");

/** Throws UserError when there is no provider, or one that cannot be used. Contacts nobody. */
export function selectModel(options: SelectModelOptions): SelectedModel {
  const configured = options.providers.map((settings) => complete(settings, options.env));
  const known = [...configured, ...fromEnvironment(options.env).filter((found) => !configured.some(({ name }) => name === found.name))];
  const named = splitName(options.model ?? "", known);
  const provider = named.provider ?? bestProvider(named.model, known);
  if (!provider) throw new UserError(NO_PROVIDER);
  const model = modelId(provider, named.model);
  const limits = modelLimits(provider.protocol, model);
  const contextWindow = provider.contextWindow ?? limits.contextWindow;
  return {
    client: makeClient(provider, options),
    provider: provider.name,
    model,
    contextWindow,
    // A small local window must not be all answer.
    maxOutputTokens: provider.maxOutputTokens ?? Math.min(limits.maxOutputTokens, Math.floor(contextWindow / 4)),
  };
}

function complete(settings: ProviderSettings, env: Environment): Provider {
  if (settings.protocol === "openai-responses") {
    throw new UserError(
      `Provider "${settings.name}": the protocol openai-responses is not supported. Use "openai" (chat completions) for the same server.`,
    );
  }
  const preset = Object.hasOwn(PRESETS, settings.name) ? PRESETS[settings.name] : undefined;
  const protocol = settings.protocol ?? preset?.protocol;
  const baseUrl = settings.baseUrl ?? baseUrlFrom(settings.name, env) ?? preset?.baseUrl;
  if (!protocol) throw new UserError(`Provider "${settings.name}" needs a protocol: anthropic or openai.`);
  if (!baseUrl) throw new UserError(`Provider "${settings.name}" needs a baseUrl.`);
  const apiKeyEnv = settings.apiKeyEnv ?? preset?.apiKeyEnv;
  return { ...settings, protocol, baseUrl, ...(apiKeyEnv ? { apiKeyEnv } : {}) };
}

function baseUrlFrom(name: string, env: Environment): string | undefined {
  if (name === "anthropic") return env.ANTHROPIC_BASE_URL || undefined;
  return name === "openai" ? env.OPENAI_BASE_URL || undefined : undefined;
}

/** Whoever has a key comes first; a base URL alone is a server that wants none. */
function fromEnvironment(env: Environment): Provider[] {
  const withKey = [...(env.ANTHROPIC_API_KEY || env.ANTHROPIC_AUTH_TOKEN ? ["anthropic"] : []), ...(env.OPENAI_API_KEY ? ["openai"] : [])];
  const withUrl = ["anthropic", "openai"].filter((name) => baseUrlFrom(name, env) && !withKey.includes(name));
  return [...withKey, ...withUrl].map((name) => complete({ name }, env));
}

function splitName(text: string, known: readonly Provider[]): { provider?: Provider; model: string } {
  const slash = text.indexOf("/");
  const provider = slash > 0 ? known.find(({ name }) => name === text.slice(0, slash)) : undefined;
  return provider ? { provider, model: text.slice(slash + 1) } : { model: text };
}

/** The one that is configured for this model, then one that speaks its family's protocol, then the first. */
function bestProvider(model: string, known: readonly Provider[]): Provider | undefined {
  const family = isAlias(model) ? "anthropic" : familyOf(model);
  return (
    known.find((provider) => model !== "" && provider.model === model) ?? known.find(({ protocol }) => protocol === family) ?? known[0]
  );
}

function modelId(provider: Provider, text: string): string {
  const model = isAlias(text) ? modelOfAlias(provider, text) : text || provider.model || modelOf(provider.name, provider.protocol);
  if (model) return model;
  throw new UserError(
    `Provider "${provider.name}" has no default model. Name one: --model ${provider.name}/ID, or "model" in its settings.`,
  );
}

/** A server that is configured for another family's model has no Claude to offer, whatever protocol it speaks. */
function modelOfAlias(provider: Provider, alias: ModelAlias): string | undefined {
  const isForeign = provider.protocol === "anthropic" && provider.model !== undefined && familyOf(provider.model) !== "anthropic";
  return isForeign ? provider.model : (modelOf(provider.name, provider.protocol, alias) ?? provider.model);
}

function makeClient(provider: Provider, options: SelectModelOptions): ModelClient {
  const common = {
    provider: provider.name,
    baseUrl: provider.baseUrl,
    env: options.env,
    ...credentials(provider, options.env),
    ...(provider.headers ? { headers: provider.headers } : {}),
    ...(provider.extraBody ? { extraBody: provider.extraBody } : {}),
    ...(options.limits ? { limits: options.limits } : {}),
  };
  if (provider.protocol === "openai") return openAIClient(common);
  return anthropicClient({ ...common, ...(provider.thinking ? { thinking: provider.thinking } : {}) });
}

/** A local or re-routed server may want no key; a key that the settings name has to be there. */
function credentials(provider: Provider, env: Environment): { apiKey?: string; authToken?: string } {
  if (!provider.apiKeyEnv) return {};
  const apiKey = env[provider.apiKeyEnv];
  if (apiKey) return { apiKey };
  const authToken = provider.name === "anthropic" ? env.ANTHROPIC_AUTH_TOKEN : undefined;
  if (authToken) return { authToken };
  const preset = Object.hasOwn(PRESETS, provider.name) ? PRESETS[provider.name] : undefined;
  if (provider.apiKeyEnv === preset?.apiKeyEnv && provider.baseUrl !== preset.baseUrl) return {};
  throw new UserError(`Provider "${provider.name}" takes its key from ${provider.apiKeyEnv}, which is not set.`);
}
