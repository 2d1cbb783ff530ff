import { at } from "./wire.ts";

/** How each vendor says that a prompt is too long; where the words name the window, it is the first group. */
const WORDINGS: readonly RegExp[] = [
  // Anthropic
  /prompt is too long(?:: \d+ tokens > (\d+) maximum)?/i,
  /input length and `max_tokens` exceed context limit: \d+ \+ \d+ > (\d+)/i,
  /request_too_large|request exceeds the maximum size/i,
  // OpenAI, chat and Responses
  /exceeds the context window/i,
  /input tokens exceed the configured limit of (\d+)/i,
  // OpenAI, OpenRouter, DeepSeek, vLLM, LM Studio and many others
  /maximum context length (?:is|of) (\d+)/i,
  /context_length_exceeded|model_context_window_exceeded/i,
  // GLM
  /prompt exceeds max length|tokens? (?:in request|number) .{0,40}exceed/i,
  // Qwen
  /range of input length should be \[\d+, (\d+)\]/i,
  // Kimi
  /exceeded model token limit: (\d+)/i,
  // Ollama
  /prompt too long; exceeded (?:max )?context length|input length exceeds (?:the|maximum) context length/i,
  // LM Studio
  /loaded with context length of only (\d+)/i,
  /tokens to keep from the initial prompt is greater than the context length/i,
  // llama.cpp
  /exceeds the available context size(?: \((\d+) tokens\))?|exceed_context_size/i,
  // vLLM
  /longer than the maximum model length of (\d+)/i,
  // Gemini
  /exceeds the maximum number of tokens allowed \((\d+)\)/i,
  // Grok
  /maximum prompt length is (\d+)/i,
  // Mistral
  /too large for model with (\d+) maximum context length/i,
  // Groq, Bedrock, MiniMax, Copilot
  /reduce the length of the messages/i,
  /input is too long for requested model/i,
  /context window exceeds limit/i,
  /prompt token count of \d+ exceeds the limit of (\d+)/i,
  // Whoever puts it nearly so
  /(?:exceeds?|larger than|longer than|over|beyond) (?:the |this |available |model's |maximum )*(?:context|max(?:imum)? (?:prompt|input))[ _]?(?:length|window|size|limit)/i,
  /max(?:imum)? (?:prompt|input) (?:length|tokens)|context[ _](?:length|window)[ _](?:exceeded|overflow|is full)/i,
];
/** A limit of tokens a minute is told in much the same words. */
const RATE = /rate_limit|rate limit|tokens per min|too many requests/i;

/** Undefined when it is something else; else with the window, where it is named. A status of 429 never is. */
export function overflowOf(words: string, status: number | undefined, error?: unknown): { limitTokens?: number } | undefined {
  if (status === 429 || RATE.test(words)) return undefined;
  // 128,000 and 128000 are one number.
  const plain = words.replace(/(\d),(?=\d{3}\b)/g, "$1");
  const found = WORDINGS.map((wording) => wording.exec(plain)).filter((match) => match !== null);
  if (found.length === 0 && status !== 413) return undefined;
  // llama.cpp tells it in a field of its own.
  const field = at(error, "n_ctx");
  const limit = typeof field === "number" ? field : Number(found.find((match) => match[1] !== undefined)?.[1]);
  return limit > 0 ? { limitTokens: limit } : {};
}
