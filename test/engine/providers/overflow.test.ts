import { describe, expect, test } from "vitest";
import { requestFailure, serverFailure, strayFailure } from "../../../src/engine/providers/failure.ts";

const PAGE =
  "<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n<body><center><h1>413</h1></center>nginx</body>\r\n</html>";

/** Who says it, with which status, in which words, and the window that they name. */
const WORDINGS: readonly (readonly [vendor: string, status: number | undefined, error: unknown, limitTokens?: number])[] = [
  ["Anthropic", 400, { type: "invalid_request_error", message: "prompt is too long: 210000 tokens > 200000 maximum" }, 200_000],
  [
    "Anthropic, with the answer",
    400,
    {
      message:
        "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length or `max_tokens` and try again",
    },
    200_000,
  ],
  ["Anthropic, bytes", 413, { type: "request_too_large", message: "Request exceeds the maximum size" }],
  [
    "OpenAI chat",
    400,
    {
      code: "context_length_exceeded",
      message: "This model's maximum context length is 128000 tokens. However, your messages resulted in 130012 tokens.",
    },
    128_000,
  ],
  [
    "OpenAI Responses",
    400,
    {
      code: "context_length_exceeded",
      message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
    },
  ],
  [
    "OpenAI, configured",
    400,
    { message: "Input tokens exceed the configured limit of 272,000 tokens. Your messages resulted in 300,012 tokens." },
    272_000,
  ],
  [
    "OpenRouter",
    400,
    { code: 400, message: "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens" },
    131_072,
  ],
  ["OpenRouter, in the stream", undefined, { code: 400, message: "maximum context length is 32768 tokens" }, 32_768],
  [
    "DeepSeek",
    400,
    {
      type: "invalid_request_error",
      message:
        "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens (132000 in the messages, 8000 in the completion).",
    },
    131_072,
  ],
  ["GLM", 400, { code: "1261", message: "Prompt exceeds max length" }],
  [
    "Qwen",
    400,
    { code: "invalid_parameter_error", message: "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]" },
    129_024,
  ],
  [
    "Kimi",
    400,
    { type: "invalid_request_error", message: "Invalid request: Your request exceeded model token limit: 262144 (requested: 270000)" },
    262_144,
  ],
  ["Ollama", 400, { message: "prompt too long; exceeded max context length by 210 tokens" }],
  ["Ollama, embedded", 400, { message: "the input length exceeds the context length" }],
  [
    "LM Studio",
    400,
    {
      message:
        "Trying to keep the first 5210 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
    },
    4096,
  ],
  [
    "LM Studio, kept",
    400,
    {
      message:
        "The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length",
    },
  ],
  [
    "llama.cpp",
    400,
    {
      code: 400,
      type: "exceed_context_size_error",
      message: "request (9001 tokens) exceeds the available context size (8192 tokens), try increasing it",
      n_prompt_tokens: 9001,
      n_ctx: 8192,
    },
    8192,
  ],
  [
    "llama.cpp, the field alone",
    400,
    {
      code: 400,
      type: "exceed_context_size_error",
      message: "the request exceeds the available context size, try increasing it",
      n_ctx: 4096,
    },
    4096,
  ],
  [
    "vLLM",
    400,
    {
      object: "error",
      message: "The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that it is no smaller.",
    },
    4096,
  ],
  ["Gemini", 400, { message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)." }, 1_048_576],
  ["Grok", 400, { message: "This model's maximum prompt length is 131072 but the request contains 537812 tokens." }, 131_072],
  [
    "Mistral",
    400,
    { message: "Prompt contains 40012 tokens and 0 draft tokens, too large for model with 32768 maximum context length" },
    32_768,
  ],
  ["Groq", 400, { message: "Please reduce the length of the messages or completion." }],
  ["Bedrock", 400, { message: "Input is too long for requested model." }],
  ["MiniMax", 400, { message: "invalid params, context window exceeds limit (2013)" }],
  ["Copilot", 400, { message: "prompt token count of 140000 exceeds the limit of 128000" }, 128_000],
  ["a gateway", 500, { message: "litellm.ContextWindowExceededError: the prompt exceeds the context window" }],
  ["nobody knows whom", 400, "prompt exceeds the model's maximum context length"],
  ["a gateway's page", 413, PAGE],
];

describe("a prompt that is too long is told in the words of", () => {
  for (const [vendor, status, error, limitTokens] of WORDINGS) {
    test(`${vendor} (status ${status})`, () => {
      const found = serverFailure(error, status);
      expect(found).toMatchObject({ kind: "context_length", retryable: false });
      expect(found.limitTokens).toBe(limitTokens);
    });
  }
});

test("C-09: a 429 is never an overflow, in whichever words", () => {
  for (const [vendor, , error] of WORDINGS) expect([vendor, serverFailure(error, 429).kind]).not.toEqual([vendor, "context_length"]);
  expect(
    serverFailure(
      { code: "rate_limit_exceeded", message: "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 45000" },
      429,
    ),
  ).toMatchObject({ kind: "rate_limit", retryable: true });
  expect(serverFailure({ type: "rate_limit_error", message: "This request would exceed the maximum input tokens per minute" }).kind).toBe(
    "rate_limit",
  );
});

test("C-09: a gateway's page with status 413 comes through the SDK's error as an overflow", () => {
  const error = Object.assign(new Error(`413 ${PAGE}`), { status: 413, headers: new Headers() });
  expect(requestFailure(error, "https://model.test")).toMatchObject({ kind: "context_length", text: expect.stringContaining("413") });
});

test("an overflow told as plain JSON with status 200 is one too", () => {
  expect(strayFailure('{"error":{"message":"maximum context length is 8192 tokens"}}')).toMatchObject({
    kind: "context_length",
    limitTokens: 8192,
  });
});

test("other refusals that speak of tokens are none", () => {
  for (const message of [
    "max_tokens: 99999 > 64000, which is the maximum allowed number of output tokens for this model",
    "`max_tokens` must be greater than `thinking.budget_tokens`",
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    "tools: maximum of 128 tools",
  ])
    expect([message, serverFailure({ message }, 400).kind]).toEqual([message, "invalid_request"]);
});
