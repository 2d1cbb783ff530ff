import type http from "node:http";
import { builtin } from "./builtin.ts";
import type { ProxyEnvironment } from "./proxy.ts";

/** A `fetch` for the SDKs, made of node:http: the global one costs more CPU at its first use than both SDKs. */
export type HttpFetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;
type Transport = (url: URL, options: http.RequestOptions) => http.ClientRequest;

/** Connections are kept for the next request. Redirects are not followed: a key must not travel to another host. */
export function createHttpFetch(env: ProxyEnvironment = {}): HttpFetch {
  const transports = new Map<string, Promise<Transport>>();
  return async (input, init = {}) => {
    const url = new URL(typeof input === "object" && "url" in input ? input.url : input);
    const transport = transports.get(url.origin) ?? loadTransport(url, env);
    transports.set(url.origin, transport);
    const request = await transport;
    const options: http.RequestOptions = { method: init.method ?? "GET", headers: plainHeaders(init.headers) };
    if (init.signal) options.signal = init.signal;
    const body = typeof init.body === "string" ? init.body : "";
    const send = () => sendOnce(request(url, options), body);
    const response = await send().catch((error: unknown) => {
      if (error instanceof StaleConnection) return send();
      throw error;
    });
    // The SDKs and the engine read no more of a Response than HttpResponse has; a real one would load the global fetch.
    return new HttpResponse(response, url.href) as unknown as Response;
  };
}

/** Loaded when needed, because TLS and proxies cost a teammate with a local server some milliseconds for nothing. */
async function loadTransport(url: URL, env: ProxyEnvironment): Promise<Transport> {
  const namesProxy = Object.entries(env).some(([name, value]) => value && /_proxy$/i.test(name));
  const proxies = namesProxy ? await import("./proxy.ts") : undefined;
  const proxy = proxies?.proxyFor(url, env);
  if (proxies && proxy && url.protocol !== "https:") return proxies.requestThrough(proxy);
  const { request, Agent } = builtin(url.protocol === "https:" ? "node:https" : "node:http");
  const agent = proxies && proxy ? proxies.tunnelAgent(proxy) : new Agent({ keepAlive: true });
  return (target, options) => request(target, { ...options, agent });
}

/** The server closed a kept connection just when a request went out on it: that request was not read, a new one may go out. */
class StaleConnection extends Error {}

function sendOnce(request: http.ClientRequest, body: string): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on("response", resolve);
    request.on("error", (error: NodeJS.ErrnoException) => {
      const isStale = request.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
      reject(isStale ? new StaleConnection(error.message, { cause: error }) : error);
    });
    request.setHeader("content-length", Buffer.byteLength(body));
    request.end(body);
  });
}

function plainHeaders(headers: unknown): http.OutgoingHttpHeaders {
  if (typeof headers !== "object" || headers === null) return {};
  const pairs: Iterable<[string, string]> = isEntries(headers) ? headers.entries() : Object.entries(headers);
  return Object.fromEntries(pairs);
}

function isEntries(value: object): value is { entries(): Iterable<[string, string]> } {
  return "entries" in value && typeof value.entries === "function";
}

class HttpResponse {
  readonly status: number;
  readonly ok: boolean;
  readonly statusText: string;
  readonly url: string;
  readonly headers: HttpHeaders;
  readonly body: http.IncomingMessage;

  constructor(message: http.IncomingMessage, url: string) {
    this.status = message.statusCode ?? 0;
    this.ok = this.status >= 200 && this.status < 300;
    this.statusText = message.statusMessage ?? "";
    this.url = url;
    this.headers = new HttpHeaders(message.headers);
    this.body = message;
  }

  async text(): Promise<string> {
    const chunks: Buffer[] = [];
    for await (const chunk of this.body) chunks.push(chunk);
    return Buffer.concat(chunks).toString("utf8");
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }
}

class HttpHeaders {
  readonly #values: http.IncomingHttpHeaders;
  constructor(values: http.IncomingHttpHeaders) {
    this.#values = values;
  }

  get(name: string): string | null {
    const value = this.#values[name.toLowerCase()];
    return value === undefined ? null : String(value);
  }

  has(name: string): boolean {
    return this.#values[name.toLowerCase()] !== undefined;
  }

  *entries(): Generator<[string, string]> {
    for (const [name, value] of Object.entries(this.#values)) if (value !== undefined) yield [name, String(value)];
  }

  [Symbol.iterator](): Generator<[string, string]> {
    return this.entries();
  }
}

/** Reads a body to its end, or lets it go: after a proper end the connection is kept if the server ends soon, else it is closed. */
export function letGo(body: http.IncomingMessage, isFinished: boolean): void {
  if (body.destroyed || body.readableEnded) return;
  if (!isFinished) {
    body.destroy();
    return;
  }
  const timer = setTimeout(() => body.destroy(), 1000).unref();
  body.once("close", () => clearTimeout(timer));
  body.resume();
}
