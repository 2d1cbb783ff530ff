import { createHash } from "node:crypto";
import { pathToFileURL } from "node:url";
import {
  Client,
  type ElicitRequestFormParams,
  type ElicitResult,
  type OAuthClientProvider,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { expandServer } from "./expand.ts";
import {
  type Listed,
  listPrompts,
  listResources,
  listTemplates,
  listTools,
  type RemotePrompt,
  type RemoteResource,
  type RemoteTemplate,
  type RemoteTool,
} from "./lists.ts";
import type { ConfiguredServer, HttpServerConfig, McpServerConfig } from "./schema.ts";
import { endOf, errorText, lastWords, openTransport, type ServerTransport, startFailure } from "./transports.ts";

/** Slow ones were seen to take 18 seconds; nobody waits for them. */
const CONNECT_MS = 30_000;
const FAREWELL_MS = 1_000;
const SIGN_IN_ROUNDS = 3;

/** How a person lets this client in where a server asks for it. */
export type SignIn = {
  provider: OAuthClientProvider;
  /** Resolves with what the browser came back with; absent where nobody can open one. */
  callback?: (signal: AbortSignal) => Promise<URLSearchParams>;
  /** Around the exchange of what came back. */
  finish?: (exchange: () => Promise<void>) => Promise<void>;
};

/** A form of a server, put to the person. */
export type ServerQuestion = (server: string, request: ElicitRequestFormParams, signal: AbortSignal) => Promise<ElicitResult>;

export type ServerSurroundings = {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** RooCode's, for the server to know. */
  version: string;
  /** For what a server says when it fails. */
  maskSecrets: (text: string) => string;
  connectMs?: number;
  /** Folders that the agent works in. */
  roots?: readonly string[];
  /** Puts a server's questions to the person; without it they are declined. */
  elicit?: ServerQuestion;
  signIn?: (url: URL, config: HttpServerConfig) => Promise<SignIn | undefined>;
  protocol?: "auto" | "legacy";
};

export type Lists = { tools: RemoteTool[]; resources: RemoteResource[]; templates: RemoteTemplate[]; prompts: RemotePrompt[] };
export type ListKind = "tools" | "resources" | "prompts";
export type Connection = AsyncDisposable & {
  client: Client;
  /** What it calls itself, and the protocol's revision. */
  about: { name: string; version: string; protocol: string };
  lists: Lists;
  problems: string[];
  isClosed(): boolean;
  /** Why it is gone, with its last words. */
  ending(): string;
  /** The lists of this kind as they are now. */
  refresh(kind: ListKind): Promise<Partial<Lists>>;
  /** Repeats what a server first wants a person to sign in for. */
  signedIn<Result>(action: () => Promise<Result>, signal: AbortSignal): Promise<Result>;
};
export type ConnectionEvents = { onListChanged: (kind: ListKind) => void; onClosed: () => void };

/** `isFinal`: to try it again would change nothing. */
export class ConnectError extends Error {
  readonly isFinal: boolean;
  readonly needsSignIn: boolean;

  constructor(message: string, { isFinal = false, needsSignIn = false } = {}) {
    super(message);
    this.isFinal = isFinal || needsSignIn;
    this.needsSignIn = needsSignIn;
  }
}

/** Rejects with a ConnectError, a sentence for the person; then nothing of the server is left. */
export async function connectServer(
  server: ConfiguredServer,
  surroundings: ServerSurroundings,
  events: ConnectionEvents,
  signal: AbortSignal,
): Promise<Connection> {
  const { config, missing } = expandServer(server.config, surroundings.env);
  if (missing.length > 0) throw new ConnectError(`the environment has no ${missing.join(", ")} (${server.source}).`, { isFinal: true });
  const isSse = "url" in config && config.type === "sse";
  if (isSse) return attempt(server, config, surroundings, events, signal, true);
  try {
    return await attempt(server, config, surroundings, events, signal, false);
  } catch (error) {
    if (!(error instanceof OldServer)) throw error;
    return attempt(server, config, surroundings, events, signal, true);
  }
}

/** It answers the first request as one does that knows only the transport before this. */
class OldServer extends Error {}

async function attempt(
  server: ConfiguredServer,
  config: McpServerConfig,
  surroundings: ServerSurroundings,
  events: ConnectionEvents,
  signal: AbortSignal,
  isOld: boolean,
): Promise<Connection> {
  const limit = config.connectTimeout ?? surroundings.connectMs ?? CONNECT_MS;
  using clock = new Clock(limit, signal);
  const signIn = await signInOf(config, surroundings);
  let transport: ServerTransport;
  const open = () => openTransport(config, surroundings, signIn?.provider, isOld);
  try {
    transport = open();
  } catch (error) {
    throw new ConnectError(`${errorText(error)} (${server.source}).`, { isFinal: true });
  }
  const early = new Set<ListKind>();
  let isReady = false;
  const onListChanged = (kind: ListKind) => {
    if (isReady) events.onListChanged(kind);
    else early.add(kind);
  };
  const fresh = () => newClient(server, config, surroundings, onListChanged);
  let client = fresh();
  let rounds = 0;
  const close = () => closeClient(client, transport);

  async function letIn(callSignal: AbortSignal): Promise<void> {
    rounds += 1;
    if (!signIn?.callback || rounds > SIGN_IN_ROUNDS || !("finishAuth" in transport)) throw new SignInNeeded();
    const remote = transport;
    const params = await clock.paused(() => signIn.callback?.(callSignal));
    if (!params) throw new SignInNeeded();
    const exchange = () => remote.finishAuth(params);
    await (signIn.finish ? signIn.finish(exchange) : exchange());
  }

  async function connect(): Promise<{ lists: Lists; problems: string[] }> {
    for (;;) {
      try {
        await client.connect(transport, { signal: clock.signal, timeout: limit });
        return await allLists(client, { signal: clock.signal, timeout: limit });
      } catch (error) {
        if (!(error instanceof UnauthorizedError)) throw error;
        await letIn(clock.signal);
        await close();
        client = fresh();
        transport = open();
      }
    }
  }

  try {
    const { lists, problems } = await Promise.race([connect(), clock.rejected()]);
    isReady = true;
    client.onclose = () => {
      if (isReady) events.onClosed();
    };
    subscribe(client);
    for (const kind of early) setImmediate(() => onListChanged(kind));
    return {
      client,
      lists,
      problems,
      about: {
        name: client.getServerVersion()?.name ?? server.name,
        version: client.getServerVersion()?.version ?? "",
        protocol: client.getNegotiatedProtocolVersion() ?? "",
      },
      isClosed: () => !client.transport,
      ending: () => `${endOf(transport) ?? "closed"}.${lastWords(transport, surroundings.maskSecrets)}`,
      refresh: async (kind) => (await listsOf(client, kind, { signal: AbortSignal.timeout(limit), timeout: limit })).lists,
      async signedIn(action, callSignal) {
        for (;;) {
          try {
            return await action();
          } catch (error) {
            if (!(error instanceof UnauthorizedError)) throw error;
            await letIn(callSignal);
          }
        }
      },
      async [Symbol.asyncDispose]() {
        isReady = false;
        await close();
      },
    };
  } catch (error) {
    await close();
    if (signal.aborted) throw new ConnectError("it was not waited for.", { isFinal: true });
    if (!isOld && !clock.isOver && transport instanceof StreamableHTTPClientTransport && isUnknownThere(error)) throw new OldServer();
    if (error instanceof SignInNeeded || error instanceof UnauthorizedError || (isHttp(error, 401) && !hasKey(config)))
      throw new ConnectError(`it wants you to sign in. Do it with: roocode mcp test ${server.name}`, { needsSignIn: true });
    const why = clock.isOver ? `no answer within ${limit / 1000} s.` : `${endOf(transport) ?? startFailure(error, config)}.`;
    const isFinal = error instanceof Error && "code" in error && error.code === "ENOENT";
    throw new ConnectError(`${why}${lastWords(transport, surroundings.maskSecrets)}`, { isFinal });
  }
}

/** What a provider throws that can't lead a person to a browser. */
export class SignInNeeded extends Error {
  constructor() {
    super("A person has to sign in.");
  }
}

function isHttp(error: unknown, ...statuses: number[]): boolean {
  return error instanceof SdkHttpError && statuses.includes(error.status);
}

function hasKey(config: McpServerConfig): boolean {
  return "url" in config && Object.keys(config.headers).some((name) => name.toLowerCase() === "authorization");
}

/** With a key of the person's own among the headers there is nothing to sign in to. */
async function signInOf(config: McpServerConfig, surroundings: ServerSurroundings): Promise<SignIn | undefined> {
  if (!("url" in config) || !URL.canParse(config.url)) return undefined;
  if (hasKey(config)) return undefined;
  return surroundings.signIn?.(new URL(config.url), config);
}

function newClient(
  server: ConfiguredServer,
  config: McpServerConfig,
  surroundings: ServerSurroundings,
  onListChanged: (kind: ListKind) => void,
): Client {
  const { version, elicit, roots = [], protocol } = surroundings;
  const client = new Client(
    { name: "roocode", version },
    {
      capabilities: { elicitation: { form: { applyDefaults: true } }, roots: {} },
      // Probing for the newest revision would start each child twice.
      versionNegotiation: { mode: "url" in config ? (protocol ?? "auto") : "legacy" },
    },
  );
  client.setRequestHandler("roots/list", async () => ({ roots: roots.map((path) => ({ uri: pathToFileURL(path).href })) }));
  client.setRequestHandler("elicitation/create", async ({ params }, context): Promise<ElicitResult> => {
    if (!elicit || !("requestedSchema" in params)) return { action: "decline" };
    return elicit(server.name, params, context.mcpReq.signal);
  });
  for (const kind of ["tools", "resources", "prompts"] as const)
    client.setNotificationHandler(`notifications/${kind}/list_changed`, () => onListChanged(kind));
  return client;
}

function subscribe(client: Client): void {
  if (client.getProtocolEra() !== "modern") return;
  // There a server tells only those who ask; one that can't has nothing to tell.
  const wanted = { toolsListChanged: true, resourcesListChanged: true, promptsListChanged: true };
  const capabilities = client.getServerCapabilities();
  if (capabilities?.tools?.listChanged || capabilities?.resources?.listChanged || capabilities?.prompts?.listChanged)
    client.listen(wanted).catch(() => undefined);
}

async function allLists(client: Client, options: { signal: AbortSignal; timeout: number }): Promise<{ lists: Lists; problems: string[] }> {
  const all = await Promise.all((["tools", "resources", "prompts"] as const).map((kind) => listsOf(client, kind, options)));
  const lists: Lists = Object.assign({ tools: [], resources: [], templates: [], prompts: [] }, ...all.map((one) => one.lists));
  return { lists, problems: all.flatMap((one) => one.problems) };
}

/** Asked only where the server says that it has them. Without its tools it is of no use; the others may fail. */
async function listsOf(
  client: Client,
  kind: ListKind,
  options: { signal: AbortSignal; timeout: number },
): Promise<{ lists: Partial<Lists>; problems: string[] }> {
  const capabilities = client.getServerCapabilities();
  const tolerated = async <Entry>(listing: Promise<Listed<Entry>>): Promise<Listed<Entry>> =>
    listing.catch((error: unknown) => {
      if (options.signal.aborted || error instanceof UnauthorizedError) throw error;
      return { entries: [], problems: [`${kind}/list failed: ${errorText(error)}`] };
    });
  if (!capabilities?.[kind]) return { lists: {}, problems: [] };
  switch (kind) {
    case "tools": {
      const { entries, problems } = await listTools(client, options);
      return { lists: { tools: entries }, problems };
    }
    case "resources": {
      const [resources, templates] = await Promise.all([
        tolerated(listResources(client, options)),
        tolerated(listTemplates(client, options)),
      ]);
      return { lists: { resources: resources.entries, templates: templates.entries }, problems: resources.problems };
    }
    case "prompts": {
      const { entries, problems } = await tolerated(listPrompts(client, options));
      return { lists: { prompts: entries }, problems };
    }
  }
}

/** The specification: any 4xx on the first POST may mean the old transport. Those that mean something else stay what they are. */
function isUnknownThere(error: unknown): boolean {
  return isHttp(error, 400, 404, 405, 406, 415, 501);
}

async function closeClient(client: Client, transport: ServerTransport): Promise<void> {
  if (transport instanceof StreamableHTTPClientTransport && transport.sessionId !== undefined) {
    // A server that is gone needs no farewell.
    const farewell = transport.terminateSession().catch(() => undefined);
    await Promise.race([farewell, new Promise((done) => setTimeout(done, FAREWELL_MS).unref())]);
  }
  await client.close().catch(() => undefined);
  // A client that never connected does not know its transport.
  await transport.close().catch(() => undefined);
}

export function originOf({ name, config }: ConfiguredServer): string {
  return `${name} ${createHash("sha256")
    .update(JSON.stringify(startOf(config)))
    .digest("hex")
    .slice(0, 16)}`;
}

/** What makes it another server when it changes. */
function startOf({ required: _, deferred: __, disabled: ___, timeout: ____, connectTimeout: _____, ...start }: McpServerConfig): object {
  return start;
}

export function isTimeout(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === SdkErrorCode.RequestTimeout;
}

/** The time that a server has, without what a person takes to sign in. */
class Clock implements Disposable {
  readonly #over = new AbortController();
  readonly #outer: AbortSignal;
  readonly #ms: number;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(ms: number, outer: AbortSignal) {
    this.#ms = ms;
    this.#outer = outer;
    this.#start();
  }

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  get signal(): AbortSignal {
    return AbortSignal.any([this.#over.signal, this.#outer]);
  }

  async paused<Result>(action: () => Result): Promise<Awaited<Result>> {
    clearTimeout(this.#timer);
    try {
      return await action();
    } finally {
      this.#start();
    }
  }

  rejected(): Promise<never> {
    const { signal } = this;
    return new Promise((_, reject) => {
      const end = () => reject(new Error("time is up"));
      if (signal.aborted) end();
      else signal.addEventListener("abort", end, { once: true });
    });
  }

  [Symbol.dispose](): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #start(): void {
    // A sign-in in the middle of a session is no part of the start.
    if (!this.#isStopped) this.#timer = setTimeout(() => this.#over.abort(), this.#ms);
  }
}
