import { lookup } from "node:dns/promises";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { connect, isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { isPrivateAddress, isPrivateName } from "../../platform/private-address.ts";
import { plainHost } from "../../platform/web-address.ts";
import { type HostRule, ruleFor, USUAL_PORTS } from "./allowed-hosts.ts";

type Target = { host: string; port: string };
/** An address to connect to, or why there is none. */
type Way = { address: string; port: number } | { refusal: string };

const CONNECT_MS = 30_000;
/** A command must not take all of the agent's file descriptors; what is more waits for nothing and is hung up on. */
const MAX_CONNECTIONS = 200;
/** They speak of the way to the filter, not of the request. */
const HOP_HEADERS = ["proxy-authorization", "proxy-connection", "connection", "keep-alive", "te", "trailer", "upgrade"];

/**
 * An HTTP proxy on a Unix socket that lets connections to the named hosts out: CONNECT for whatever is encrypted, and plain requests.
 * A name is looked up here, once; what it connects to is the address that was judged.
 */
export class NetworkFilter implements Disposable {
  readonly #rules: readonly HostRule[];
  readonly #server: Server;
  readonly #open = new Set<Duplex>();
  readonly #refused = new Set<string>();

  constructor(rules: readonly HostRule[]) {
    this.#rules = rules;
    // What a command or a server wrote oddly costs its connection, never the agent.
    this.#server = createServer((incoming, answer) => void this.#forward(incoming, answer).catch(() => answer.destroy()));
    this.#server.on("connect", (incoming, socket, head) => void this.#tunnel(incoming, socket, head).catch(() => socket.destroy()));
    this.#server.on("connection", (socket) => this.#keep(socket));
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.#server.unref();
  }

  /** Rejects where no socket can be made at the path. */
  listen(path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(path, () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
  }

  /** Hosts that were asked for in vain since the last time. */
  takeRefused(): string[] {
    const refused = [...this.#refused];
    this.#refused.clear();
    return refused;
  }

  /** Whoever opened them is over. A server that never hangs up would hold them for good. */
  hangUp(): void {
    for (const socket of this.#open) socket.destroy();
  }

  [Symbol.dispose](): void {
    this.#server.close();
    this.hangUp();
  }

  #keep<S extends Duplex>(socket: S): S {
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
    // Whoever hung up: the other end is told by the pipe.
    socket.on("error", () => socket.destroy());
    return socket;
  }

  async #tunnel(incoming: IncomingMessage, inside: Duplex, head: Buffer): Promise<void> {
    this.#keep(inside);
    const way = await this.#wayTo(targetOf(`http://${incoming.url ?? ""}/`, "443"));
    if (inside.destroyed) return;
    if ("refusal" in way) {
      inside.end(`HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n${way.refusal}\n`);
      return;
    }
    const outside = this.#keep(connect({ host: way.address, port: way.port, allowHalfOpen: true }));
    outside.setTimeout(CONNECT_MS, () => outside.destroy());
    outside.once("connect", () => {
      outside.setTimeout(0);
      inside.write("HTTP/1.1 200 Connection established\r\n\r\n");
      if (head.length > 0) outside.write(head);
      inside.pipe(outside).pipe(inside);
    });
    outside.once("close", () => inside.destroy());
    inside.once("close", () => outside.destroy());
  }

  async #forward(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    const target = targetOf(incoming.url ?? "", "80");
    const way = await this.#wayTo(target);
    if (answer.destroyed) return;
    if ("refusal" in way) {
      answer.writeHead(403, { "content-type": "text/plain", connection: "close" }).end(`${way.refusal}\n`);
      return;
    }
    const url = new URL(incoming.url ?? "");
    const headers = Object.fromEntries(Object.entries(incoming.headers).filter(([name]) => !HOP_HEADERS.includes(name)));
    const { address: host, port } = way;
    const fail = (why: string): void => {
      if (answer.headersSent) answer.destroy();
      else answer.writeHead(502, { "content-type": "text/plain", connection: "close" }).end(`${why}\n`);
    };
    const outgoing = request({ host, port, method: incoming.method, path: `${url.pathname}${url.search}`, setHost: false, agent: false });
    // What the server behind the address sees is what was judged, not what the command wrote beside it.
    for (const [name, value] of Object.entries({ ...headers, host: url.host })) if (value !== undefined) outgoing.setHeader(name, value);
    outgoing.on("socket", (socket: Socket) => this.#keep(socket));
    outgoing.on("response", (response) => {
      try {
        answer.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(answer);
      } catch (error) {
        // Its parser takes what may not be passed on, such as the status 99.
        fail(error instanceof Error ? error.message : String(error));
      }
    });
    outgoing.on("error", (error) => fail(error.message));
    answer.on("close", () => outgoing.destroy());
    incoming.pipe(outgoing);
  }

  async #wayTo(target: Target | undefined): Promise<Way> {
    if (target === undefined) return { refusal: "RooCode's OS sandbox lets http:// requests and CONNECT out, nothing else" };
    const { host, port } = target;
    const rule = ruleFor(host, port, this.#rules);
    const named = USUAL_PORTS.includes(port) ? host : `${host}:${port}`;
    if (rule === undefined) return this.#refuse(named, "is not among the hosts of the setting sandbox.network");
    if (!rule.isExact && isPrivateName(host)) return this.#refuse(named, "means this machine or its cloud: only its very name opens it");
    const found = isIP(host) === 0 ? await lookup(host).catch((error: Error) => error.message) : { address: host };
    if (typeof found === "string") return { refusal: `${host} was not found: ${found}` };
    if (!rule.isExact && isPrivateAddress(found.address))
      return this.#refuse(named, `leads to ${found.address}, a private network: only its very name opens it`);
    return { address: found.address, port: Number(port) };
  }

  #refuse(named: string, why: string): Way {
    this.#refused.add(named);
    return { refusal: `${named} ${why}` };
  }
}

function targetOf(text: string, usualPort: string): Target | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, port } = new URL(text);
  return protocol === "http:" && hostname !== "" ? { host: plainHost(hostname), port: port || portOf(text) || usualPort } : undefined;
}

/** URL drops the port that its scheme has anyway. */
function portOf(text: string): string | undefined {
  return /^http:\/\/[^/]*:(\d+)(?:\/|$)/.exec(text)?.[1];
}
