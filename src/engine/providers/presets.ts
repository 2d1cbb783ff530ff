import type { Protocol } from "./models.ts";

export type Preset = { protocol: Protocol; baseUrl: string; apiKeyEnv?: string };

/** Providers that need no more than their name in the settings. Without `apiKeyEnv` they want no key. */
export const PRESETS: Readonly<Record<string, Preset>> = {
  anthropic: { protocol: "anthropic", baseUrl: "https://api.anthropic.com", apiKeyEnv: "ANTHROPIC_API_KEY" },
  openai: { protocol: "openai", baseUrl: "https://api.openai.com/v1", apiKeyEnv: "OPENAI_API_KEY" },
  openrouter: { protocol: "openai", baseUrl: "https://openrouter.ai/api/v1", apiKeyEnv: "OPENROUTER_API_KEY" },
  deepseek: { protocol: "openai", baseUrl: "https://api.deepseek.com/v1", apiKeyEnv: "DEEPSEEK_API_KEY" },
  glm: { protocol: "openai", baseUrl: "https://api.z.ai/api/paas/v4", apiKeyEnv: "ZAI_API_KEY" },
  qwen: { protocol: "openai", baseUrl: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", apiKeyEnv: "DASHSCOPE_API_KEY" },
  kimi: { protocol: "openai", baseUrl: "https://api.moonshot.ai/v1", apiKeyEnv: "MOONSHOT_API_KEY" },
  ollama: { protocol: "openai", baseUrl: "http://127.0.0.1:11434/v1" },
  lmstudio: { protocol: "openai", baseUrl: "http://127.0.0.1:1234/v1" },
  "llama.cpp": { protocol: "openai", baseUrl: "http://127.0.0.1:8080/v1" },
  vllm: { protocol: "openai", baseUrl: "http://127.0.0.1:8000/v1" },
};
