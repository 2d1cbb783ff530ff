import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isErrno } from "../../platform/files.ts";
import { UserError } from "../../protocol/errors.ts";
import { EventStreams } from "./event-streams.ts";
import { OneTimeTokens } from "./one-time-tokens.ts";

const MOST_CONNECTIONS = 96;
/** A reader that takes nothing for so long has left. */
const IDLE_MS = 30_000;
/** Only to read paths by. */
const ORIGIN = "http://127.0.0.1";

/** On every answer. The page's own policy says what may run in it; this one, that nobody frames it. */
const HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
};

type Options = {
  port: number;
  /** The page. Asked for when a reader wants it, once for each version at most, never twice at a time. */
  render: (version: number) => Promise<string>;
  /** A token was used; the link for the next browser. */
  onOpened: (nextUrl: string) => void;
};

/** Serves one page on loopback, to who has a one-time link or the cookie that it was exchanged for. Serves nothing from the disk. */
export class LiveServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #tokens = new OneTimeTokens();
  readonly #streams = new EventStreams(1);
  readonly #render: Options["render"];
  readonly #onOpened: Options["onOpened"];
  #version = 1;
  #page: { version: number; html: Buffer } | undefined;
  #rendering: Promise<unknown> = Promise.resolve();
  #onTaken: ((version: number) => void) | undefined;

  private constructor({ render, onOpened }: Options) {
    this.#render = render;
    this.#onOpened = onOpened;
    this.#server = createServer({ headersTimeout: 10_000, requestTimeout: 15_000, maxHeaderSize: 16_384 }, (request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
    this.#server.maxConnections = MOST_CONNECTIONS;
  }

  /** Throws a UserError where the port is not to be had. */
  static async open(options: Options): Promise<LiveServer> {
    const live = new LiveServer(options);
    await listen(live.#server, options.port);
    return live;
  }

  get port(): number {
    // A TCP server's address is never a string.
    return (this.#server.address() as AddressInfo).port;
  }

  /** Opens one browser, once. The link before it is void. */
  nextUrl(): string {
    return `http://127.0.0.1:${this.port}/?token=${this.#tokens.next()}`;
  }

  changed(): void {
    this.#version++;
    this.#streams.tell(this.#version);
  }

  /** Tells all pages that this is the last state, and waits until each has taken it, or for `ms`. */
  async end(ms: number): Promise<void> {
    this.#version++;
    let left = this.#streams.size;
    this.#streams.tell(this.#version, true);
    if (left === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#onTaken = (version) => {
        if (version !== this.#version || --left > 0) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setTimeout(IDLE_MS, () => response.destroy());
    const refused = this.#refusal(request);
    if (refused) return say(response, refused.status, refused.text, refused.headers);
    if (!URL.canParse(request.url ?? "/", ORIGIN)) return say(response, 400, "That is no address.\n");
    const url = new URL(request.url ?? "/", ORIGIN);
    const token = url.searchParams.get("token");
    if (url.pathname === "/" && token !== null) return this.#exchange(token, response);
    if (!this.#tokens.hasCookie(request.headers.cookie, this.#cookieName))
      return say(response, 403, "This page needs the link that the terminal shows. Each link opens one browser, once.\n");
    switch (url.pathname) {
      case "/":
        return this.#sendPage(response);
      case "/events":
        response.setTimeout(0);
        if (!this.#streams.add(response, HEADERS)) say(response, 503, "Too many pages are open.\n");
        return;
      default:
        return say(response, 404, "There is nothing here.\n");
    }
  }

  get #cookieName(): string {
    // Cookies of one host are shared by its ports.
    return `roocode-watch-${this.port}`;
  }

  /** A name that leads here by a foreign DNS record, and pages of other servers, are told nothing. */
  #refusal({ method, headers }: IncomingMessage): { status: number; text: string; headers?: Record<string, string> } | undefined {
    if (headers.host !== `127.0.0.1:${this.port}` && headers.host !== `localhost:${this.port}`)
      return { status: 421, text: "This server answers to 127.0.0.1 alone.\n" };
    if (method !== "GET") return { status: 405, text: "Only GET is answered.\n", headers: { allow: "GET" } };
    const site = headers["sec-fetch-site"];
    const isNavigation = headers["sec-fetch-mode"] === "navigate";
    if (site !== undefined && site !== "same-origin" && site !== "none" && !isNavigation)
      return { status: 403, text: "Other pages get no answer.\n" };
    return undefined;
  }

  #exchange(token: string, response: ServerResponse): void {
    if (!this.#tokens.use(token)) {
      say(response, 403, "This link was used already, or is none. The terminal shows the next one.\n");
      return;
    }
    response.writeHead(303, {
      ...HEADERS,
      location: "/",
      "set-cookie": `${this.#cookieName}=${this.#tokens.cookieValue}; HttpOnly; SameSite=Strict; Path=/`,
    });
    response.end();
    this.#onOpened(this.nextUrl());
  }

  async #sendPage(response: ServerResponse): Promise<void> {
    const { version, html } = await this.#newest();
    response.on("finish", () => this.#onTaken?.(version));
    response.writeHead(200, { ...HEADERS, "content-type": "text/html; charset=utf-8", "content-length": html.length });
    response.end(html);
  }

  /** Readers that come together wait for one rendering. */
  #newest(): Promise<{ version: number; html: Buffer }> {
    const next = this.#rendering.then(async () => {
      const version = this.#version;
      if (this.#page?.version !== version) this.#page = { version, html: Buffer.from(await this.#render(version)) };
      return this.#page;
    });
    this.#rendering = next.catch(() => undefined);
    return next;
  }
}

function say(response: ServerResponse, status: number, text: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { ...HEADERS, ...headers, "content-type": "text/plain; charset=utf-8" });
  response.end(text);
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      if (isErrno(error, "EADDRINUSE")) reject(new UserError(`Port ${port} is in use. Take another one, or leave --port away.`));
      else if (isErrno(error, "EACCES"))
        reject(new UserError(`Port ${port} is not for you to use. Take one above 1023, or leave --port away.`));
      else reject(error);
    });
    server.listen(port, "127.0.0.1", resolve);
  });
}
