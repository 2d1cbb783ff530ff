import type { ServerSurroundings } from "./connection.ts";
import type { ConfiguredServer } from "./schema.ts";
import { McpServer } from "./server.ts";
import { StartGate } from "./start-gate.ts";

export type HostEvents = { onNotice(text: string): void };

/** All servers of this process, one client each. They start in the background, beside each other; nobody waits for them here. */
export class McpHost implements AsyncDisposable {
  readonly servers: readonly McpServer[];
  readonly #starts: Promise<void>[];
  readonly #listeners = new Set<(server: McpServer) => void>();

  constructor(configured: readonly ConfiguredServer[], surroundings: ServerSurroundings, events: HostEvents) {
    const onChange = (server: McpServer) => {
      for (const listener of this.#listeners) listener(server);
    };
    this.servers = configured.map((one) => new McpServer(one, surroundings, { onChange, onNotice: events.onNotice }));
    const gate = new StartGate();
    this.#starts = this.servers.map((server) => start(server, gate));
  }

  /** Told whenever a server comes, goes or changes its lists. Gives a function that ends it. */
  onChange(listener: (server: McpServer) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves once each of these has answered or failed, or the time is over. */
  async settled(servers: readonly McpServer[], maxMs: number, signal: AbortSignal): Promise<void> {
    const starts = servers.map((server) => this.#starts[this.servers.indexOf(server)]);
    const end = AbortSignal.any([signal, AbortSignal.timeout(maxMs)]);
    if (end.aborted) return;
    await Promise.race([Promise.all(starts), new Promise((resolve) => end.addEventListener("abort", resolve, { once: true }))]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listeners.clear();
    await Promise.all(this.servers.map((server) => server[Symbol.asyncDispose]()));
  }
}

function start(server: McpServer, gate: StartGate): Promise<void> {
  if ("url" in server.configured.config) return server.start();
  const turn = gate.turn();
  const started = server.start(turn);
  void turn.then(() => gate.end(started));
  return started;
}
