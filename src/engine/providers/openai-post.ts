import { createHttpFetch } from "./http-fetch.ts";
import type { ChatSdk } from "./openai-sdk.ts";
import type { ProxyEnvironment } from "./proxy.ts";

export type OpenAIServer = {
  /** Ends in /v1, or what stands there in its place. */
  baseUrl: string;
  /** Without one a placeholder is sent: local servers want none. */
  apiKey?: string;
  headers?: Readonly<Record<string, string>>;
  /** Where proxies are looked up. */
  env?: ProxyEnvironment;
};

/** Sends bodies to one path of a server. The SDK is loaded with the first of them. */
export function openAIPost(path: string, server: OpenAIServer): (body: string, stop: AbortSignal) => Promise<unknown> {
  const fetch = createHttpFetch(server.env);
  let loaded: Promise<ChatSdk> | undefined;
  const loadSdk = async () => {
    const { ChatSdk } = await import("./openai-sdk.ts");
    return new ChatSdk({
      apiKey: server.apiKey || "none",
      baseURL: server.baseUrl,
      defaultHeaders: server.headers ?? {},
      maxRetries: 0,
      logLevel: "off",
      fetch,
    });
  };
  return async (body, stop) => {
    loaded ??= loadSdk();
    const sdk = await loaded;
    return sdk.post(path, { body, headers: { "content-type": "application/json" }, signal: stop }).asResponse();
  };
}
