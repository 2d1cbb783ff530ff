import type { ModelClient } from "../../protocol/model.ts";
import type { Adjustments } from "./adjustments.ts";
import { type ChatCompat, compatOf } from "./compat.ts";
import { httpClient } from "./http-client.ts";
import { toOpenAIBody } from "./openai-body.ts";
import { type OpenAIServer, openAIPost } from "./openai-post.ts";
import { OpenAIAnswer } from "./openai-stream.ts";
import type { StreamLimits } from "./stream-answer.ts";
import type { Thinking } from "./thinking.ts";

export type OpenAIClientOptions = OpenAIServer & {
  provider: string;
  thinking?: Thinking;
  /** Requests of one conversation have one, so that they find its cache. */
  cacheKey?: string;
  extraBody?: Readonly<Record<string, unknown>>;
  limits?: StreamLimits;
};

/** Where arguments do not come in pieces, a large one is minutes of silence. */
const SILENT_ARGUMENTS_MS = 300_000;

export function openAIClient({ compat: given, ...options }: OpenAIClientOptions & { compat?: Partial<ChatCompat> }): ModelClient {
  const guessed = compatOf(options.baseUrl, options.provider);
  const compat = { ...guessed, ...given };
  return httpClient({
    ...options,
    body: (request, adjustments) => toOpenAIBody(request, { ...options, compat: adjusted(compat, adjustments) }),
    answer: (context) => new OpenAIAnswer(context),
    post: openAIPost("/chat/completions", options),
    idleMs: (adjustments) => {
      const comesInPieces = compat.toolStream && adjustments.takes("tool_stream");
      return guessed.toolStream && !comesInPieces ? Math.max(compat.idleMs, SILENT_ARGUMENTS_MS) : compat.idleMs;
    },
  });
}

/** Fields of the body itself are taken out later; here are those that stand deeper. */
function adjusted(compat: ChatCompat, adjustments: Adjustments): ChatCompat {
  return {
    ...compat,
    developerRole: compat.developerRole && adjustments.takes("developer"),
    strictTools: compat.strictTools && adjustments.takes("strict"),
    cacheMarks: adjustments.takes("cache_control") && compat.cacheMarks,
    echoReasoning: compat.echoReasoning && adjustments.takes("reasoning_content") && adjustments.takes("reasoning_details"),
  };
}
