import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { type CallToolResult, Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { commandEnvironment } from "../../platform/command-environment.ts";
import { plainText } from "../bash/plain-text.ts";
import { expandServer } from "./expand.ts";
import { type ListedTools, listTools, type RemoteTool } from "./list-tools.ts";
import type { ConfiguredServer } from "./schema.ts";
import { StdioTransport } from "./stdio.ts";

const CONNECT_MS = 10_000;
/** Between a call's signs of life; each progress report begins it anew. */
const CALL_MS = 600_000;
const FAREWELL_MS = 1_000;
const STDERR_LINES = 5;
const STDERR_CHARACTERS = 800;
const ERROR_CHARACTERS = 500;

export type ServerSurroundings = {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** RooCode's, for the server to know. */
  version: string;
  /** For what a server says when it fails. */
  maskSecrets: (text: string) => string;
  connectMs?: number;
};
type CallOptions = { signal: AbortSignal; progress(text: string): void };

/** A server that answered, with the tools it had then. */
export type McpServer = AsyncDisposable & {
  name: string;
  /** Stands for its name and how it is started: another command or address is another server. */
  origin: string;
  /** What it calls itself, and the protocol's revision. */
  about: { name: string; version: string; protocol: string };
  tools: readonly RemoteTool[];
  notes: readonly string[];
  /** A tool as the server lists it now: it may say that its list has changed. */
  current(tool: string): Promise<RemoteTool | undefined>;
  call(tool: string, input: Record<string, unknown>, options: CallOptions): Promise<CallToolResult>;
};

/** `notes` names each server that is not there, with the reason and the end of its stderr, and each tool that can't be used. */
export type McpServers = AsyncDisposable & { servers: McpServer[]; notes: string[] };

/** All at once; each has `connectMs`. What fails, hangs or babbles is a note and is stopped. */
export async function openServers(configured: readonly ConfiguredServer[], surroundings: ServerSurroundings): Promise<McpServers> {
  const opened = await Promise.allSettled(configured.map((server) => openServer(server, surroundings)));
  const servers = opened.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const notes = opened.flatMap((result) => (result.status === "rejected" ? [sentence(result.reason)] : result.value.notes));
  return {
    servers,
    notes,
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
    },
  };
}

/** Rejects with a sentence for the person; then nothing of the server is left. */
async function openServer(server: ConfiguredServer, surroundings: ServerSurroundings): Promise<McpServer> {
  const limit = surroundings.connectMs ?? CONNECT_MS;
  const say = (why: string) => `MCP server "${server.name}" is not there: ${why}`;
  const { config, missing } = expandServer(server.config, surroundings.env);
  if (missing.length > 0) throw new Error(say(`the environment has no ${missing.join(", ")} (${server.source}).`));
  let transport: StdioTransport | StreamableHTTPClientTransport;
  try {
    transport = "url" in config ? overHttp(config.url, config.headers) : asChild(config, surroundings);
  } catch (error) {
    throw new Error(say(`${errorText(error)} (${server.source}).`));
  }
  const client = new Client(
    { name: "roocode", version: surroundings.version },
    // Probing for the newest revision would start each child twice.
    { versionNegotiation: { mode: "url" in config ? "auto" : "legacy" } },
  );
  const close = () => closeServer(client, transport);
  const timeUp = new AbortController();
  const timer = setTimeout(() => timeUp.abort(), limit);
  try {
    const { tools, problems } = await Promise.race([connect(client, transport, timeUp.signal, limit), rejected(timeUp.signal)]);
    const current = followList(client, tools, limit);
    return {
      name: server.name,
      origin: originOf(server),
      about: {
        name: client.getServerVersion()?.name ?? server.name,
        version: client.getServerVersion()?.version ?? "",
        protocol: client.getNegotiatedProtocolVersion() ?? "",
      },
      tools,
      notes: problems.map((problem) => `MCP server "${server.name}": ${problem}.`),
      current: async (tool) => (await current()).find(({ name }) => name === tool),
      call: (tool, input, options) => callTool(client, transport, { server, tool, input }, options, surroundings.maskSecrets),
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    const why = timeUp.signal.aborted ? `no answer within ${limit / 1000} s.` : `${endOf(transport) ?? startFailure(error, config)}.`;
    await close();
    throw new Error(say(`${why}${stderrTail(transport, surroundings.maskSecrets)}`));
  } finally {
    clearTimeout(timer);
  }
}

function asChild(
  config: { command: string; args: readonly string[]; env: Record<string, string>; cwd?: string | undefined },
  { cwd, env }: ServerSurroundings,
) {
  const { command, args } = config;
  return new StdioTransport({ command, args, cwd: resolve(cwd, config.cwd ?? "."), env: commandEnvironment(env, config.env) });
}

function overHttp(url: string, headers: Record<string, string>) {
  if (!URL.canParse(url)) throw new Error("its url is none");
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
}

async function connect(client: Client, transport: Transport, signal: AbortSignal, timeout: number): Promise<ListedTools> {
  await client.connect(transport, { signal, timeout });
  if (!client.getServerCapabilities()?.tools) return { tools: [], problems: [] };
  // Unlike its own, this listing leaves the SDK without output schemas: a result that breaks one is still an answer for the model.
  return listTools(client, { signal, timeout });
}

/** The list as the server gives it after each word that it has changed. One that it then does not give stays as it was. */
function followList(client: Client, first: readonly RemoteTool[], timeout: number): () => Promise<readonly RemoteTool[]> {
  let latest = Promise.resolve(first);
  client.setNotificationHandler("notifications/tools/list_changed", () => {
    const before = latest;
    latest = listTools(client, { signal: AbortSignal.timeout(timeout), timeout }).then(
      ({ tools }) => tools,
      () => before,
    );
  });
  return () => latest;
}

function originOf({ name, config }: ConfiguredServer): string {
  return `${name} ${createHash("sha256").update(JSON.stringify(config)).digest("hex").slice(0, 16)}`;
}

function rejected(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("time is up")), { once: true }));
}

type Call = { server: ConfiguredServer; tool: string; input: Record<string, unknown> };

async function callTool(
  client: Client,
  transport: Transport,
  { server, tool, input }: Call,
  { signal, progress }: CallOptions,
  maskSecrets: (text: string) => string,
): Promise<CallToolResult> {
  const gone = (when: string) =>
    new Error(`the MCP server "${server.name}" ${when} (${endOf(transport) ?? "closed"}).${stderrTail(transport, maskSecrets)}`);
  if (!client.transport) throw gone("is not running any more");
  try {
    return await client.callTool(
      { name: tool, arguments: input },
      {
        signal,
        timeout: CALL_MS,
        resetTimeoutOnProgress: true,
        onprogress: ({ message, progress: done, total }) =>
          progress(plainText(`${message ?? (total === undefined ? String(done) : `${done} of ${total}`)}\n`)),
      },
    );
  } catch (error) {
    if (!signal.aborted && !client.transport) throw gone("ended during this call");
    throw error;
  }
}

async function closeServer(client: Client, transport: StdioTransport | StreamableHTTPClientTransport): Promise<void> {
  if (transport instanceof StreamableHTTPClientTransport && transport.sessionId !== undefined) {
    // A server that is gone needs no farewell.
    const farewell = transport.terminateSession().catch(() => undefined);
    await Promise.race([farewell, new Promise((done) => setTimeout(done, FAREWELL_MS).unref())]);
  }
  await client.close().catch(() => undefined);
  // A client that never connected does not know its transport.
  await transport.close().catch(() => undefined);
}

/** What openServer rejects with is fit to be read already. */
function sentence(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}

function startFailure(error: unknown, config: object): string {
  if (error instanceof Error && "code" in error && error.code === "ENOENT" && "command" in config) {
    return `"${String(config.command)}" could not be started; there is no such program or folder`;
  }
  return errorText(error);
}

function endOf(transport: Transport): string | undefined {
  return transport instanceof StdioTransport && transport.exit !== undefined ? `it ended with ${transport.exit}` : undefined;
}

function stderrTail(transport: Transport, maskSecrets: (text: string) => string): string {
  if (!(transport instanceof StdioTransport)) return "";
  const lines = maskSecrets(plainText(transport.stderr)).trim().split("\n");
  const text = lines.slice(-STDERR_LINES).join("\n").slice(-STDERR_CHARACTERS);
  return text === "" ? "" : ` Its last words:\n${text}`;
}

/** `fetch failed` says nothing; its cause does. A server over HTTP may have answered with a whole page. */
function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const words = [error.message];
  // The SDK wraps a failed fetch, and repeats in its own message what it wraps.
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause)
    if (!words[0]?.includes(cause.message)) words.push(cause.message);
  return plainText(words.join(": ")).slice(0, ERROR_CHARACTERS);
}
