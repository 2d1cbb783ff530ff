import type { ThinkingStyle } from "./thinking.ts";

/** What a server with OpenAI's chat protocol wants otherwise. Each field can be set in a provider's settings (`compat`). */
export type ChatCompat = {
  maxTokensField: "max_tokens" | "max_completion_tokens";
  /** Asks for the usage at the end of the stream. */
  streamOptions: boolean;
  /** Says `store: false`. */
  store: boolean;
  /** The system prompt of a reasoning model comes as "developer". */
  developerRole: boolean;
  /** Says `strict: false` of each tool. */
  strictTools: boolean;
  /** Arguments of calls come in pieces; else a large one is minutes of silence. */
  toolStream: boolean;
  /** Takes `prompt_cache_key`. */
  promptCacheKey: boolean;
  /** Anthropic's cache marks: "claude" for Claude models only. */
  cacheMarks: boolean | "claude";
  thinkingStyle: ThinkingStyle;
  /** Wants `reasoning_content` on each assistant message with calls, an empty one too. */
  alwaysReasoning: boolean;
  /** Reasoning goes back to the model that wrote it. */
  echoReasoning: boolean;
  /** Call ids of exactly nine letters and digits; absent: for Mistral's models. */
  nineCharacterIds?: boolean;
  /** Templates that refuse two messages of the user in a row. */
  mergeUserMessages: boolean;
  /** How long the stream may be silent. */
  idleMs: number;
};

const COMMON: ChatCompat = {
  maxTokensField: "max_tokens",
  streamOptions: true,
  store: false,
  developerRole: false,
  strictTools: false,
  toolStream: false,
  promptCacheKey: false,
  cacheMarks: false,
  thinkingStyle: "reasoning_effort",
  alwaysReasoning: false,
  echoReasoning: true,
  mergeUserMessages: false,
  idleMs: 120_000,
};
const LOCAL: Partial<ChatCompat> = { mergeUserMessages: true };

const VENDORS = {
  openai: { maxTokensField: "max_completion_tokens", store: true, developerRole: true, promptCacheKey: true },
  azure: { maxTokensField: "max_completion_tokens", developerRole: true },
  openrouter: { thinkingStyle: "reasoning", cacheMarks: "claude" },
  deepseek: { thinkingStyle: "type_and_effort", alwaysReasoning: true },
  glm: { thinkingStyle: "clear_thinking", toolStream: true },
  qwen: { thinkingStyle: "enable_thinking" },
  kimi: { thinkingStyle: "type" },
  mistral: { nineCharacterIds: true, thinkingStyle: "none" },
  ollama: LOCAL,
  lmstudio: LOCAL,
  "llama.cpp": { ...LOCAL, thinkingStyle: "chat_template_kwargs" },
  vllm: { ...LOCAL, thinkingStyle: "chat_template_kwargs" },
} as const satisfies Record<string, Partial<ChatCompat>>;
type Vendor = keyof typeof VENDORS;

const HOSTS: readonly (readonly [pattern: RegExp, vendor: Vendor])[] = [
  [/(^|\.)openai\.com$/, "openai"],
  [/\.azure\.com$/, "azure"],
  [/(^|\.)openrouter\.ai$/, "openrouter"],
  [/(^|\.)deepseek\.com$/, "deepseek"],
  [/(^|\.)(z\.ai|bigmodel\.cn)$/, "glm"],
  [/(^|\.)(aliyuncs|alibabacloud)\.com$/, "qwen"],
  [/(^|\.)(moonshot\.(ai|cn)|kimi\.com)$/, "kimi"],
  [/(^|\.)mistral\.ai$/, "mistral"],
];
const PORTS: Readonly<Record<string, Vendor>> = { "11434": "ollama", "1234": "lmstudio", "8080": "llama.cpp", "8000": "vllm" };

/** Guessed by the host; what is no known host by its provider's name, and then by the port that local servers take. */
export function compatOf(baseUrl: string, name = ""): ChatCompat {
  const vendor = vendorOf(baseUrl, name);
  return { ...COMMON, ...(vendor ? VENDORS[vendor] : {}) };
}

function vendorOf(baseUrl: string, name: string): Vendor | undefined {
  const { hostname, port } = URL.canParse(baseUrl) ? new URL(baseUrl) : { hostname: "", port: "" };
  const byHost = HOSTS.find(([pattern]) => pattern.test(hostname))?.[1];
  if (byHost) return byHost;
  // A base URL of one's own under a vendor's name may be anything that speaks its protocol, so only local servers are taken at their name.
  if (name === "ollama" || name === "lmstudio" || name === "llama.cpp" || name === "vllm") return name;
  return PORTS[port];
}
