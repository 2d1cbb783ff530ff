/** What a server with OpenAI's protocol wants otherwise. `extraBody` of the settings comes on top. */
export type ChatCompat = {
  maxTokensField: "max_tokens" | "max_completion_tokens";
  /** Wants `reasoning_content` on each assistant message with calls, an empty one too. */
  alwaysReasoning: boolean;
  extraBody: Readonly<Record<string, unknown>>;
};

const COMMON: ChatCompat = { maxTokensField: "max_tokens", alwaysReasoning: false, extraBody: {} };

const BY_HOST: readonly (readonly [RegExp, Partial<ChatCompat>])[] = [
  [/(^|\.)openai\.com$|\.azure\.com$/, { maxTokensField: "max_completion_tokens" }],
  [/(^|\.)deepseek\.com$/, { alwaysReasoning: true }],
  // Without tool_stream a large argument is minutes of silence.
  [/(^|\.)(z\.ai|bigmodel\.cn)$/, { extraBody: { tool_stream: true } }],
];

export function compatOf(baseUrl: string): ChatCompat {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : "";
  return { ...COMMON, ...BY_HOST.find(([pattern]) => pattern.test(host))?.[1] };
}
