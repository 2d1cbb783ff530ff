import * as z from "zod";

/** One entry of the `providers` section. What is absent comes from the preset of the same name, if there is one. */
const ProviderSettingsSchema = z.strictObject({
  name: z.string().regex(/^[^/\s]+$/, "A provider's name has no slash and no space."),
  protocol: z.enum(["anthropic", "openai", "openai-responses"]).optional(),
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  /** Name of the environment variable that holds the key. */
  apiKeyEnv: z.string().min(1).optional(),
  model: z.string().min(1).optional(),
  contextWindow: z.int().positive().optional(),
  maxOutputTokens: z.int().positive().optional(),
  /** Anthropic's protocol only: "adaptive", or a budget in tokens. */
  thinking: z.union([z.literal("adaptive"), z.int().min(1024), z.literal(false)]).optional(),
  extraBody: z.record(z.string(), z.unknown()).optional(),
  headers: z.record(z.string(), z.string()).optional(),
});
export const ProvidersSchema = z.array(ProviderSettingsSchema);
export type ProviderSettings = z.output<typeof ProviderSettingsSchema>;
