import type http from "node:http";
import type https from "node:https";
import { type Duplex, PassThrough } from "node:stream";
import { connect } from "node:tls";
import { builtin } from "./builtin.ts";
import { isLoopback } from "./failure.ts";

export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/** The proxy that the environment names for this URL. Loopback never goes through one. */
export function proxyFor(url: URL, env: ProxyEnvironment): URL | undefined {
  const proxy = either(env, url.protocol === "https:" ? "https_proxy" : "http_proxy") || either(env, "all_proxy");
  if (proxy === "" || isLoopback(url.href) || isExcepted(url.hostname, either(env, "no_proxy"))) return undefined;
  const address = /^\w+:\/\//.test(proxy) ? proxy : `http://${proxy}`;
  return URL.canParse(address) && /^https?:/.test(address) ? new URL(address) : undefined;
}

function either(env: ProxyEnvironment, name: string): string {
  return env[name] || env[name.toUpperCase()] || "";
}

/** A name in the list stands for itself and all below it. */
function isExcepted(host: string, list: string): boolean {
  const names = list.split(/[\s,]+/).map((name) => name.replace(/^\*?\./, ""));
  return names.some((name) => name === "*" || (name !== "" && (host === name || host.endsWith(`.${name}`))));
}

/** For http URLs the proxy is asked for the whole URL. */
export function requestThrough(proxy: URL): (url: URL, options: http.RequestOptions) => http.ClientRequest {
  const agent = agentFor(proxy);
  return (url, options) => {
    const headers = { ...Object(options.headers), host: url.host, ...authorization(proxy) };
    return toProxy(proxy, { ...options, agent, path: url.href, headers });
  };
}

/** Connections for https URLs, each through a CONNECT tunnel of the proxy. */
export function tunnelAgent(proxy: URL): https.Agent {
  const agent = new (builtin("node:https").Agent)({ keepAlive: true });
  agent.createConnection = (options, callback) => {
    const servername = options.host ?? "";
    const target = `${servername}:${options.port ?? 443}`;
    const request = toProxy(proxy, { method: "CONNECT", path: target, headers: { host: target, ...authorization(proxy) } });
    const fail = (error: Error, socket: Duplex) => callback?.(error, socket);
    request.once("connect", (response: http.IncomingMessage, socket: Duplex) => {
      if (response.statusCode === 200) return callback?.(null, connect({ socket, servername }));
      socket.destroy();
      fail(new Error(`The proxy ${proxy.host} refused a tunnel to ${target} with status ${response.statusCode}.`), socket);
    });
    request.once("error", (error) => fail(new Error(`The proxy ${proxy.host} cannot be reached.`, { cause: error }), new PassThrough()));
    request.end();
    return undefined;
  };
  return agent;
}

function toProxy(proxy: URL, options: http.RequestOptions): http.ClientRequest {
  const { request } = builtin(proxy.protocol === "https:" ? "node:https" : "node:http");
  return request({ ...options, host: proxy.hostname, port: proxy.port || (proxy.protocol === "https:" ? 443 : 80) });
}

function agentFor(proxy: URL): http.Agent {
  return new (builtin(proxy.protocol === "https:" ? "node:https" : "node:http").Agent)({ keepAlive: true });
}

function authorization(proxy: URL): Record<string, string> {
  if (proxy.username === "") return {};
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` };
}
