import type { ModelClient } from "../../protocol/model.ts";
import { compatOf } from "./compat.ts";
import { createHttpFetch } from "./http-fetch.ts";
import { usedCallIds } from "./message-ids.ts";
import { toOpenAIBody } from "./openai-body.ts";
import type { ChatSdk } from "./openai-sdk.ts";
import { OpenAIAnswer } from "./openai-stream.ts";
import type { ProxyEnvironment } from "./proxy.ts";
import { STREAM_LIMITS, type StreamLimits, streamAnswer } from "./stream-answer.ts";

export type OpenAIClientOptions = {
  provider: string;
  /** Ends in /v1, or what stands there in its place. */
  baseUrl: string;
  /** Without one a placeholder is sent: local servers want none. */
  apiKey?: string;
  headers?: Readonly<Record<string, string>>;
  extraBody?: Readonly<Record<string, unknown>>;
  limits?: StreamLimits;
  /** Where proxies are looked up. */
  env?: ProxyEnvironment;
};

export function openAIClient(options: OpenAIClientOptions): ModelClient {
  const fetch = createHttpFetch(options.env);
  const bodyOptions = { ...options, compat: compatOf(options.baseUrl) };
  let loaded: Promise<ChatSdk> | undefined;
  const loadSdk = async () => {
    const { ChatSdk } = await import("./openai-sdk.ts");
    return new ChatSdk({
      apiKey: options.apiKey || "none",
      baseURL: options.baseUrl,
      defaultHeaders: options.headers ?? {},
      maxRetries: 0,
      logLevel: "off",
      fetch,
    });
  };
  return {
    stream(request, signal) {
      const body = JSON.stringify(toOpenAIBody(request, bodyOptions));
      const answer = new OpenAIAnswer({ provider: options.provider, model: request.model, usedIds: usedCallIds(request.messages) });
      const open = async (stop: AbortSignal) => {
        loaded ??= loadSdk();
        const sdk = await loaded;
        return sdk.post("/chat/completions", { body, headers: { "content-type": "application/json" }, signal: stop }).asResponse();
      };
      return streamAnswer({ open, answer, baseUrl: options.baseUrl, limits: options.limits ?? STREAM_LIMITS }, signal);
    },
  };
}
