import { setTimeout as sleep } from "node:timers/promises";
import { type CallToolResult, type GetPromptResult, type ReadResourceResult, SdkHttpError } from "@modelcontextprotocol/client";
import { plainText } from "../bash/plain-text.ts";
import {
  ConnectError,
  type Connection,
  connectServer,
  isTimeout,
  type ListKind,
  type Lists,
  originOf,
  type ServerSurroundings,
} from "./connection.ts";
import type { RemoteTool } from "./lists.ts";
import type { ConfiguredServer } from "./schema.ts";
import { errorText } from "./transports.ts";

/** Between a call's signs of life; each progress report begins it anew. */
const CALL_MS = 600_000;
/** Before each new start of one that ended or never came; after the last it is left alone until a call wants it. */
const BACKOFF_MS = [1_000, 5_000, 15_000, 60_000];
/** Changes of a list mostly come several at once. */
const REFRESH_MS = 100;
/** One that lived so long has not failed before. */
const STABLE_MS = 60_000;

export type ServerState = "starting" | "connected" | "failed" | "closed";
export type CallOptions = { signal: AbortSignal; progress?(text: string): void };
export type ServerEvents = {
  /** Its state or its lists are not what they were. */
  onChange(server: McpServer): void;
  /** For the person. */
  onNotice(text: string): void;
};

const NO_LISTS: Lists = { tools: [], resources: [], templates: [], prompts: [] };

/** One configured server, with its life: started in the background, started anew when it ends, stopped at the end. */
export class McpServer implements AsyncDisposable {
  readonly name: string;
  /** Stands for its name and how it is started: another command or address is another server. */
  readonly origin: string;
  readonly configured: ConfiguredServer;
  readonly #surroundings: ServerSurroundings;
  readonly #events: ServerEvents;
  readonly #closing = new AbortController();
  #connection: Connection | undefined;
  #connecting: Promise<void> | undefined;
  #lists = NO_LISTS;
  #problem: ConnectError | undefined;
  #failures = 0;
  #refreshing: Promise<void> = Promise.resolve();
  readonly #stale = new Set<ListKind>();
  #connectedAt = 0;
  /** Whether its absence was said since it was last there. */
  #isReported = false;

  constructor(configured: ConfiguredServer, surroundings: ServerSurroundings, events: ServerEvents) {
    this.name = configured.name;
    this.origin = originOf(configured);
    this.configured = configured;
    this.#surroundings = surroundings;
    this.#events = events;
  }

  get state(): ServerState {
    if (this.#closing.signal.aborted) return "closed";
    if (this.#connection && !this.#connection.isClosed()) return "connected";
    return this.#connecting && !this.#problem ? "starting" : "failed";
  }

  /** Those of the last time that it was there. */
  get lists(): Lists {
    return this.#lists;
  }

  get about(): Connection["about"] | undefined {
    return this.#connection?.about;
  }

  /** Why it is not there, for the person. */
  get problem(): string | undefined {
    return this.#problem && `MCP server "${this.name}" is not there: ${this.#problem.message}`;
  }

  get needsSignIn(): boolean {
    return this.#problem?.needsSignIn ?? false;
  }

  /** Begins when its turn comes. Resolves, and never rejects, once it is there or its first start has failed. */
  async start(turn = Promise.resolve()): Promise<void> {
    await this.#connect(turn).catch(() => undefined);
  }

  async call(tool: string, input: Record<string, unknown>, options: CallOptions): Promise<CallToolResult> {
    const remote = (connection: Connection) => this.#callOn(connection, tool, input, options);
    const connection = await this.#live(options.signal);
    if (!this.#find(tool)) throw new Error(`the MCP server "${this.name}" no longer offers the tool "${tool}"`);
    try {
      return await remote(connection);
    } catch (error) {
      if (options.signal.aborted) throw error;
      if (isTimeout(error)) throw new Error(`no answer within ${this.#callMs / 1000} s; the call was cancelled`);
      if (isForgotten(error)) return remote(await this.#restarted(connection, options.signal));
      if (!connection.isClosed()) throw new Error(errorText(error));
      return this.#afterDeath(connection, this.#find(tool), remote, options.signal);
    }
  }

  /** A picture of a resource is as good as the first. */
  async read(uri: string, options: CallOptions): Promise<ReadResourceResult> {
    return this.#repeated(({ client }) => client.readResource({ uri }, { signal: options.signal, timeout: this.#callMs }), options);
  }

  async prompt(name: string, input: Record<string, string>, options: CallOptions): Promise<GetPromptResult> {
    return this.#repeated(
      ({ client }) => client.getPrompt({ name, arguments: input }, { signal: options.signal, timeout: this.#callMs }),
      options,
    );
  }

  /** A tool as the server lists it now. */
  async current(tool: string): Promise<RemoteTool | undefined> {
    await this.#refreshing;
    return this.#find(tool);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#connecting?.catch(() => undefined);
    await this.#connection?.[Symbol.asyncDispose]();
  }

  get #callMs(): number {
    return this.configured.config.timeout ?? CALL_MS;
  }

  #find(tool: string): RemoteTool | undefined {
    return this.#lists.tools.find(({ name }) => name === tool);
  }

  async #callOn(connection: Connection, tool: string, input: Record<string, unknown>, options: CallOptions): Promise<CallToolResult> {
    const { signal, progress } = options;
    const definition = this.#find(tool);
    return connection.signedIn(
      () =>
        connection.client.callTool(
          { name: tool, arguments: input },
          {
            signal,
            timeout: this.#callMs,
            resetTimeoutOnProgress: true,
            // Without its output schema: a result that breaks it is still an answer for the model.
            ...(definition ? { toolDefinition: { name: tool, inputSchema: { ...definition.inputSchema, type: "object" } } } : {}),
            onprogress: ({ message, progress: done, total }) =>
              progress?.(plainText(`${message ?? (total === undefined ? String(done) : `${done} of ${total}`)}\n`)),
          },
        ),
      signal,
    );
  }

  /** It may have done what was asked before it died: only what is harmless twice is done again. */
  async #afterDeath(
    dead: Connection,
    tool: RemoteTool | undefined,
    again: (connection: Connection) => Promise<CallToolResult>,
    signal: AbortSignal,
  ): Promise<CallToolResult> {
    const ended = `the MCP server "${this.name}" ended during this call (${dead.ending()}`;
    const { readOnlyHint, idempotentHint } = tool?.annotations ?? {};
    const isHarmless = readOnlyHint === true || idempotentHint === true;
    const restarted = this.#restarted(dead, signal);
    if (isHarmless) return again(await restarted);
    const isBack = await restarted.then(
      () => true,
      () => false,
    );
    throw new Error(`${ended}\nIt is unknown whether the call took effect. ${isBack ? "The server was started again." : this.problem}`);
  }

  async #repeated<Result>(action: (connection: Connection) => Promise<Result>, { signal }: CallOptions): Promise<Result> {
    const connection = await this.#live(signal);
    try {
      return await connection.signedIn(() => action(connection), signal);
    } catch (error) {
      if (signal.aborted || (!connection.isClosed() && !isForgotten(error))) throw error;
      return action(await this.#restarted(connection, signal));
    }
  }

  /** Waits for a start that is under way; one that is not there is started for whoever needs it. */
  async #live(signal: AbortSignal): Promise<Connection> {
    if (this.state !== "connected") await withSignal(this.#connect(), signal);
    if (!this.#connection) throw new Error(this.problem ?? `MCP server "${this.name}" is not there.`);
    return this.#connection;
  }

  async #restarted(old: Connection, signal: AbortSignal): Promise<Connection> {
    if (this.#connection === old) {
      this.#connection = undefined;
      await old[Symbol.asyncDispose]();
    }
    return this.#live(signal);
  }

  #connect(turn?: Promise<void>): Promise<void> {
    if (this.#closing.signal.aborted)
      return Promise.reject(new Error(`the MCP server "${this.name}" is not running any more (${this.#connection?.ending() ?? "stopped"}`));
    this.#connecting ??= (turn ? turn.then(() => this.#open()) : this.#open()).finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #open(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const events = {
      onListChanged: (kind: ListKind) => this.#refresh(kind),
      onClosed: () => this.#lost(),
    };
    try {
      const connection = await connectServer(this.configured, this.#surroundings, events, this.#closing.signal);
      if (this.#closing.signal.aborted) await connection[Symbol.asyncDispose]();
      this.#connection = connection;
      this.#problem = undefined;
      this.#connectedAt = performance.now();
      this.#lists = connection.lists;
      if (this.#isReported) this.#events.onNotice(`MCP server "${this.name}" is there now.`);
      this.#isReported = false;
      for (const problem of connection.problems) this.#events.onNotice(`MCP server "${this.name}": ${problem}.`);
    } catch (error) {
      if (!(error instanceof ConnectError)) throw error;
      this.#problem = error;
      this.#failures += 1;
      if (!this.#closing.signal.aborted) this.#report(this.problem ?? "");
      if (!error.isFinal) void this.#later();
      throw new Error(this.problem);
    } finally {
      this.#connecting = undefined;
      if (!this.#closing.signal.aborted) this.#events.onChange(this);
    }
  }

  #lost(): void {
    const connection = this.#connection;
    if (!connection || this.#closing.signal.aborted) return;
    this.#failures = performance.now() - this.#connectedAt > STABLE_MS ? 1 : this.#failures + 1;
    this.#report(`MCP server "${this.name}" is gone (${connection.ending()}`);
    void this.#later();
  }

  /** Once, until it is there again. */
  #report(text: string): void {
    if (!this.#isReported) this.#events.onNotice(text);
    this.#isReported = true;
  }

  async #later(): Promise<void> {
    const delay = BACKOFF_MS[this.#failures - 1];
    if (delay === undefined) return;
    await sleep(delay, undefined, { signal: this.#closing.signal, ref: false }).catch(() => undefined);
    if (this.#closing.signal.aborted || this.state === "connected") return;
    await this.#connect().catch(() => undefined);
  }

  /** However many changes a server tells of, one question waits behind the one under way. */
  #refresh(kind: ListKind): void {
    const connection = this.#connection;
    if (!connection || this.#stale.has(kind)) return;
    this.#stale.add(kind);
    this.#refreshing = this.#refreshing.then(async () => {
      await sleep(REFRESH_MS, undefined, { signal: this.#closing.signal, ref: false }).catch(() => undefined);
      this.#stale.delete(kind);
      // One that it then does not give stays as it was.
      const fresh = await connection.refresh(kind).catch(() => undefined);
      if (!fresh || this.#connection !== connection) return;
      this.#lists = { ...this.#lists, ...fresh };
      this.#events.onChange(this);
    });
  }
}

/** A server over HTTP that was started anew knows nothing of the session, and has done nothing. */
function isForgotten(error: unknown): boolean {
  return error instanceof SdkHttpError && (error.status === 404 || (error.status === 400 && /session/i.test(error.message)));
}

function withSignal(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Error("interrupted"));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
