import type { BaseAnthropic } from "@anthropic-ai/sdk/client";
import type { ModelClient } from "../../protocol/model.ts";
import { toAnthropicBody } from "./anthropic-body.ts";
import { AnthropicAnswer } from "./anthropic-stream.ts";
import { httpClient } from "./http-client.ts";
import { createHttpFetch } from "./http-fetch.ts";
import type { ProxyEnvironment } from "./proxy.ts";
import type { StreamLimits } from "./stream-answer.ts";
import type { Thinking } from "./thinking.ts";

export type AnthropicClientOptions = {
  provider: string;
  baseUrl: string;
  /** A key, or a token that is sent as a bearer; with neither, a placeholder for servers that want none. */
  apiKey?: string;
  authToken?: string;
  headers?: Readonly<Record<string, string>>;
  thinking?: Thinking;
  /** Unless it is false. */
  cacheMarks?: boolean;
  toolReferences?: boolean;
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
  return httpClient({
    ...options,
    body: (request, adjustments) => {
      const cacheMarks = options.cacheMarks !== false && adjustments.takes("cache_control");
      const toolReferences =
        options.toolReferences === true && ["defer_loading", "tool_reference"].every((name) => adjustments.takes(name));
      return toAnthropicBody(request, { ...options, cacheMarks, toolReferences });
    },
    answer: (context) => new AnthropicAnswer(context),
    async post(body, stop) {
      loaded ??= loadSdk();
      const sdk = await loaded;
      return sdk.post("/v1/messages", { body, headers: { "content-type": "application/json" }, signal: stop }).asResponse();
    },
  });
}
