import { shownAddress } from "../../platform/address.ts";
import { NoProvider, UserError } from "../../protocol/errors.ts";
import type { ModelClient, Prices } from "../../protocol/model.ts";
import { isLoopback } from "./failure.ts";
import { assumedLimits, familyOf, isAlias, type ModelAlias, modelFacts, modelOf, type Protocol } from "./models.ts";
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
  /** Id of the conversation, for servers that find its cache by a key. */
  cacheKey?: string;
};
export type SelectedModel = {
  client: ModelClient;
  provider: string;
  model: string;
  contextWindow: number;
  maxOutputTokens: number;
  /** Absent where nobody knows them. */
  prices?: Prices;
  hasVision: boolean;
  /** A line for the person: what was assumed of a model that no table knows. */
  notice?: string;
};

/** A provider with all that presets and environment add to its settings. */
type Provider = Omit<ProviderSettings, "protocol" | "baseUrl"> & { protocol: Protocol; baseUrl: string };

const NO_PROVIDER = [
  "No model provider is configured. Set ANTHROPIC_API_KEY or OPENAI_API_KEY,",
  "or start a local server such as Ollama and take it with --model local,",
  "or name any server in ~/.roocode/config.yaml (providers: [{name, protocol, baseUrl, model}]) that speaks Anthropic's or OpenAI's protocol.",
  'To look around without a model: "roocode demo".',
].join("\n");

/** Throws UserError when there is no provider, or one that cannot be used. Contacts nobody. */
export function selectModel(options: SelectModelOptions): SelectedModel {
  const configured = options.providers.map((settings) => complete(settings, options.env));
  const known = [...configured, ...fromEnvironment(options.env).filter((found) => !configured.some(({ name }) => name === found.name))];
  const named = splitName(options.model ?? "", known);
  const provider = named.provider ?? bestProvider(named.model, known);
  if (!provider) throw new NoProvider(NO_PROVIDER);
  requireWebAddress(provider);
  const model = modelId(provider, named.model);
  return { client: makeClient(provider, options), provider: provider.name, model, ...facts(provider, model, options.env) };
}

/** The full name of this provider's cheap model, or of the given one where nobody knows a cheaper one. */
export function cheapModel({ providers, env }: SelectModelOptions, provider: string, model: string): string {
  const configured = providers.map((settings) => complete(settings, env));
  const found = [...configured, ...fromEnvironment(env)].find(({ name }) => name === provider);
  const isForeign = found?.model !== undefined && familyOf(found.model) !== familyProtocol(found.protocol);
  const cheap = found && !isForeign && familyOf(model) ? modelOf(found.name, found.protocol, "haiku") : undefined;
  return `${provider}/${cheap ?? model}`;
}

/** What a model can be taken from; of its key no more than where it would come from. */
export type KnownProvider = {
  name: string;
  protocol: Protocol;
  /** As it may be shown. */
  baseUrl: string;
  model?: string;
  from: "settings" | "environment";
  /** Variable that its key is taken from; absent for one that wants none. */
  keyVariable?: string;
  hasKey: boolean;
};

/** In the order in which selectModel looks at them. Throws UserError for one that is not whole. */
export function knownProviders({ providers, env }: Pick<SelectModelOptions, "providers" | "env">): KnownProvider[] {
  const configured = providers.map((settings) => complete(settings, env));
  const others = fromEnvironment(env).filter((found) => !configured.some(({ name }) => name === found.name));
  return [...configured, ...others].map((provider) => {
    const { name, protocol, baseUrl, model, apiKeyEnv } = provider;
    const hasToken = name === "anthropic" && apiKeyEnv !== undefined && !env[apiKeyEnv] && Boolean(env.ANTHROPIC_AUTH_TOKEN);
    const keyVariable = hasToken ? "ANTHROPIC_AUTH_TOKEN" : apiKeyEnv;
    return {
      name,
      protocol,
      baseUrl: shownAddress(baseUrl),
      ...(model === undefined ? {} : { model }),
      from: configured.includes(provider) ? "settings" : "environment",
      ...(keyVariable === undefined ? {} : { keyVariable }),
      hasKey: keyVariable !== undefined && Boolean(env[keyVariable]),
    };
  });
}

type Facts = Omit<SelectedModel, "client" | "provider" | "model">;

/** Settings of the model beat those of its provider, and those the table. */
function facts(provider: Provider, model: string, env: Environment): Facts {
  const own = provider.models?.find(({ id }) => id === model);
  const known = modelFacts(model);
  const isLocal = isOwnServer(provider, env);
  const assumed = known ?? assumedLimits(provider.protocol, isLocal);
  const given = own?.contextWindow ?? provider.contextWindow;
  const contextWindow = given ?? assumed.contextWindow;
  // A small local window must not be all answer.
  const maxOutputTokens =
    own?.maxOutputTokens ?? provider.maxOutputTokens ?? Math.min(assumed.maxOutputTokens, Math.floor(contextWindow / 4));
  const configured = own?.prices ?? provider.prices;
  const prices = configured ? filledIn(configured) : isLocal ? FREE : known?.prices;
  return {
    contextWindow,
    maxOutputTokens,
    ...(prices ? { prices } : {}),
    // What is not known is tried.
    hasVision: known?.hasVision ?? true,
    ...(known || given !== undefined ? {} : { notice: unknownModel(provider.name, model, contextWindow) }),
  };
}

const FREE: Prices = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

function filledIn(prices: NonNullable<ProviderSettings["prices"]>): Prices {
  const { input, output, cacheRead = input, cacheWrite = input } = prices;
  return { input, output, cacheRead, cacheWrite };
}

/** It gets no key, and stands on this machine or is one of the local presets. */
function isOwnServer(provider: Provider, env: Environment): boolean {
  const preset = presetOf(provider.name);
  const isLocal = isLoopback(provider.baseUrl) || (preset !== undefined && preset.apiKeyEnv === undefined);
  return isLocal && Object.keys(credentials(provider, env)).length === 0;
}

function unknownModel(provider: string, model: string, contextWindow: number): string {
  return `Nothing is known of the model "${model}": a window of ${contextWindow} tokens is assumed. If it has another, set contextWindow of "${provider}" in your settings.`;
}

function presetOf(name: string) {
  return Object.hasOwn(PRESETS, name) ? PRESETS[name] : undefined;
}

function complete(settings: ProviderSettings, env: Environment): Provider {
  const preset = presetOf(settings.name);
  const protocol = settings.protocol ?? preset?.protocol;
  const baseUrl = settings.baseUrl ?? baseUrlFrom(settings.name, env) ?? preset?.baseUrl;
  if (!protocol) throw new UserError(`Provider "${settings.name}" needs a protocol: anthropic, openai or openai-responses.`);
  if (!baseUrl) throw new UserError(`Provider "${settings.name}" needs a baseUrl.`);
  const apiKeyEnv = settings.apiKeyEnv ?? preset?.apiKeyEnv;
  return { ...settings, protocol, baseUrl, ...(apiKeyEnv ? { apiKeyEnv } : {}) };
}

/** Settings are checked when they are read; a variable may hold anything. What it holds is not shown: it may be a key. */
function requireWebAddress({ name, baseUrl }: Provider): void {
  if (URL.canParse(baseUrl) && /^https?:$/.test(new URL(baseUrl).protocol)) return;
  const variable = name === "anthropic" ? "ANTHROPIC_BASE_URL" : "OPENAI_BASE_URL";
  throw new UserError(`${variable} is no web address: it begins with http:// or https://, like http://localhost:8080.`);
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
    known.find((provider) => model !== "" && provider.model === model) ??
    known.find(({ protocol }) => familyProtocol(protocol) === family) ??
    known[0]
  );
}

function familyProtocol(protocol: Protocol): "anthropic" | "openai" {
  return protocol === "anthropic" ? "anthropic" : "openai";
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
    ...(provider.thinking === undefined ? {} : { thinking: provider.thinking }),
  };
  const cache = options.cacheKey ? { cacheKey: options.cacheKey } : {};
  switch (provider.protocol) {
    case "anthropic":
      return loadedWithFirstRequest(async () => {
        const { anthropicClient } = await import("./anthropic.ts");
        const { cacheMarks = true, toolReferences = isAnthropics(provider.baseUrl) } = provider.compat ?? {};
        return anthropicClient({ ...common, cacheMarks, toolReferences });
      });
    case "openai":
      return loadedWithFirstRequest(async () => {
        const { openAIClient } = await import("./openai.ts");
        return openAIClient({ ...common, ...cache, ...(provider.compat ? { compat: provider.compat } : {}) });
      });
    case "openai-responses":
      return loadedWithFirstRequest(async () => {
        const { responsesClient } = await import("./responses.ts");
        return responsesClient({ ...common, ...(provider.compat?.promptCacheKey === false ? {} : cache) });
      });
  }
}

/** A conversation speaks one protocol: the others are never loaded. What a client remembers between requests it keeps. */
function loadedWithFirstRequest(load: () => Promise<ModelClient>): ModelClient {
  let client: Promise<ModelClient> | undefined;
  return {
    async *stream(request, signal) {
      client ??= load();
      yield* (await client).stream(request, signal);
    },
  };
}

/** A local or re-routed server may want no key; a key that the settings name has to be there. */
function credentials(provider: Provider, env: Environment): { apiKey?: string; authToken?: string } {
  if (!provider.apiKeyEnv) return {};
  const apiKey = env[provider.apiKeyEnv];
  if (apiKey) return { apiKey };
  const authToken = provider.name === "anthropic" ? env.ANTHROPIC_AUTH_TOKEN : undefined;
  if (authToken) return { authToken };
  const preset = presetOf(provider.name);
  if (provider.apiKeyEnv === preset?.apiKeyEnv && provider.baseUrl !== preset.baseUrl) return {};
  throw new NoProvider(`Provider "${provider.name}" takes its key from ${provider.apiKeyEnv}, which is not set.`);
}

/** Others that speak its protocol know nothing of what it took in later. */
function isAnthropics(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && /(^|\.)anthropic\.com$/.test(new URL(baseUrl).hostname);
}
