import * as z from "zod";
import { EFFORTS, THINKING_STYLES } from "./thinking.ts";

const PricesSchema = z.strictObject({
  input: z.number().min(0),
  output: z.number().min(0),
  /** Without them the price of the input counts. */
  cacheRead: z.number().min(0).optional(),
  cacheWrite: z.number().min(0).optional(),
});

/** What a server wants otherwise; what is absent is guessed by the base URL. compat.ts says what each means. */
const CompatSchema = z.strictObject({
  maxTokensField: z.enum(["max_tokens", "max_completion_tokens"]).optional(),
  streamOptions: z.boolean().optional(),
  store: z.boolean().optional(),
  developerRole: z.boolean().optional(),
  strictTools: z.boolean().optional(),
  toolStream: z.boolean().optional(),
  promptCacheKey: z.boolean().optional(),
  cacheMarks: z.boolean().optional(),
  /** Anthropic's protocol: takes `defer_loading` and `tool_reference`. */
  toolReferences: z.boolean().optional(),
  thinkingStyle: z.enum(THINKING_STYLES).optional(),
  alwaysReasoning: z.boolean().optional(),
  echoReasoning: z.boolean().optional(),
  nineCharacterIds: z.boolean().optional(),
  mergeUserMessages: z.boolean().optional(),
  idleMs: z.int().positive().optional(),
});

const limits = {
  contextWindow: z.int().positive().optional(),
  maxOutputTokens: z.int().positive().optional(),
  /** US dollars for a million tokens. */
  prices: PricesSchema.optional(),
};

/** One entry of the `providers` section. What is absent comes from the preset of the same name, if there is one. */
const ProviderSettingsSchema = z.strictObject({
  name: z.string().regex(/^[^/\s]+$/, "A provider's name has no slash and no space."),
  protocol: z.enum(["anthropic", "openai", "openai-responses"]).optional(),
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  /** Name of the environment variable that holds the key. */
  apiKeyEnv: z.string().min(1).optional(),
  model: z.string().min(1).optional(),
  ...limits,
  /** What holds for one model only, and beats the fields beside. */
  models: z.array(z.strictObject({ id: z.string().min(1), ...limits })).optional(),
  /** true or "adaptive", an effort, or a budget in tokens; false says "none" where a server thinks by itself. */
  thinking: z.union([z.boolean(), z.enum(["adaptive", ...EFFORTS]), z.int().min(1024)]).optional(),
  compat: CompatSchema.optional(),
  extraBody: z.record(z.string(), z.unknown()).optional(),
  headers: z.record(z.string(), z.string()).optional(),
});
export const ProvidersSchema = z.array(ProviderSettingsSchema);
export type ProviderSettings = z.output<typeof ProviderSettingsSchema>;
