import { resolve } from "node:path";
import { type OAuthClientProvider, SSEClientTransport, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { commandEnvironment } from "../../platform/command-environment.ts";
import { plainText } from "../bash/plain-text.ts";
import { limitedFetch } from "./limited-fetch.ts";
import type { HttpServerConfig, McpServerConfig, StdioServerConfig } from "./schema.ts";
import { StdioTransport } from "./stdio.ts";

const STDERR_LINES = 5;
const STDERR_CHARACTERS = 800;
const ERROR_CHARACTERS = 500;

type RemoteTransport = StreamableHTTPClientTransport | SSEClientTransport;
export type ServerTransport = StdioTransport | RemoteTransport;

export function openTransport(
  config: McpServerConfig,
  { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv },
  authProvider: OAuthClientProvider | undefined,
  isOld: boolean,
): ServerTransport {
  return "url" in config ? overHttp(config, authProvider, isOld) : asChild(config, cwd, env);
}

function asChild({ command, args, env: own, cwd: folder }: StdioServerConfig, cwd: string, env: NodeJS.ProcessEnv): StdioTransport {
  return new StdioTransport({ command, args, cwd: resolve(cwd, folder ?? "."), env: commandEnvironment(env, own) });
}

/** `isOld`: by the protocol before streamable HTTP, with one stream of events for all answers. */
function overHttp({ url, headers }: HttpServerConfig, authProvider: OAuthClientProvider | undefined, isOld: boolean): RemoteTransport {
  if (!URL.canParse(url)) throw new Error("its url is none");
  const options = { requestInit: { headers }, fetch: limitedFetch, ...(authProvider ? { authProvider } : {}) };
  return isOld ? new SSEClientTransport(new URL(url), options) : new StreamableHTTPClientTransport(new URL(url), options);
}

/** How a child process ended; undefined while it runs, and for a server over HTTP. */
export function endOf(transport: Transport): string | undefined {
  return transport instanceof StdioTransport && transport.exit !== undefined ? `it ended with ${transport.exit}` : undefined;
}

/** The last lines that it wrote for people, as a part of a message; empty without any. */
export function lastWords(transport: Transport, maskSecrets: (text: string) => string): string {
  if (!(transport instanceof StdioTransport)) return "";
  const lines = maskSecrets(plainText(transport.stderr)).trim().split("\n");
  const text = lines.slice(-STDERR_LINES).join("\n").slice(-STDERR_CHARACTERS);
  return text === "" ? "" : ` Its last words:\n${text}`;
}

export function startFailure(error: unknown, config: object): string {
  if (error instanceof Error && "code" in error && error.code === "ENOENT" && "command" in config)
    return `"${String(config.command)}" could not be started; there is no such program or folder`;
  return errorText(error);
}

/** `fetch failed` says nothing; its cause does. A server over HTTP may have answered with a whole page. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const words = [error.message];
  // The SDK wraps a failed fetch, and repeats in its own message what it wraps.
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause)
    if (!words[0]?.includes(cause.message)) words.push(cause.message);
  return plainText(words.join(": ")).slice(0, ERROR_CHARACTERS);
}
