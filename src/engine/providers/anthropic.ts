import type { BaseAnthropic } from "@anthropic-ai/sdk/client";
import type { ModelClient } from "../../protocol/model.ts";
import { type Thinking, toAnthropicBody } from "./anthropic-body.ts";
import { AnthropicAnswer } from "./anthropic-stream.ts";
import { createHttpFetch } from "./http-fetch.ts";
import { usedCallIds } from "./message-ids.ts";
import type { ProxyEnvironment } from "./proxy.ts";
import { STREAM_LIMITS, type StreamLimits, streamAnswer } from "./stream-answer.ts";

export type AnthropicClientOptions = {
  provider: string;
  baseUrl: string;
  /** A key, or a token that is sent as a bearer; with neither, a placeholder for servers that want none. */
  apiKey?: string;
  authToken?: string;
  headers?: Readonly<Record<string, string>>;
  thinking?: Thinking;
  extraBody?: Readonly<Record<string, unknown>>;
  limits?: StreamLimits;
  /** Where proxies are looked up. */
  env?: ProxyEnvironment;
};

/** The SDK does authentication, headers and errors; the bytes are read here, because it ends a cut stream without a word. */
export function anthropicClient(options: AnthropicClientOptions): ModelClient {
  const fetch = createHttpFetch(options.env);
  let loaded: Promise<BaseAnthropic> | undefined;
  const loadSdk = async () => {
    const { BaseAnthropic } = await import("./anthropic-sdk.ts");
    const credential = options.authToken && !options.apiKey ? { authToken: options.authToken } : { apiKey: options.apiKey || "none" };
    return new BaseAnthropic({
      ...credential,
      baseURL: options.baseUrl,
      defaultHeaders: options.headers ?? {},
      maxRetries: 0,
      logLevel: "off",
      openTelemetry: false,
      fetch,
    });
  };
  return {
    stream(request, signal) {
      const body = JSON.stringify(toAnthropicBody(request, options));
      const answer = new AnthropicAnswer({ provider: options.provider, model: request.model, usedIds: usedCallIds(request.messages) });
      const open = async (stop: AbortSignal) => {
        loaded ??= loadSdk();
        const sdk = await loaded;
        return sdk.post("/v1/messages", { body, headers: { "content-type": "application/json" }, signal: stop }).asResponse();
      };
      return streamAnswer({ open, answer, baseUrl: options.baseUrl, limits: options.limits ?? STREAM_LIMITS }, signal);
    },
  };
}
