import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

const PATH = "/callback";
const DONE = "You are signed in, or the reason why not stands in the terminal. You may close this window.\n";

/** Where a browser comes back to after a person has signed in: this machine only, on a port of its own. */
export class Loopback implements AsyncDisposable {
  readonly #server: Server;
  readonly #came: URLSearchParams[] = [];
  #waiting: ((params: URLSearchParams) => void) | undefined;

  private constructor(server: Server) {
    this.#server = server;
    server.on("request", (request, response) => {
      const url = new URL(request.url ?? "/", "http://127.0.0.1");
      if (url.pathname !== PATH) return response.writeHead(404).end();
      response.writeHead(200, { "content-type": "text/plain", connection: "close" }).end(DONE);
      if (this.#waiting) this.#waiting(url.searchParams);
      else this.#came.push(url.searchParams);
      return undefined;
    });
  }

  /** On `port` if it is free: a client that is registered already is known by it. */
  static async open(port = 0): Promise<Loopback> {
    const server = createServer();
    await listening(server, port).catch(() => listening(server, 0));
    server.unref();
    return new Loopback(server);
  }

  get port(): number {
    // A TCP server's address is never a string.
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}${PATH}`;
  }

  async next(signal: AbortSignal): Promise<URLSearchParams> {
    const came = this.#came.shift();
    if (came) return came;
    this.#server.ref();
    try {
      return await new Promise((resolve, reject) => {
        this.#waiting = resolve;
        const stop = () => reject(new Error("nobody signed in"));
        if (signal.aborted) stop();
        signal.addEventListener("abort", stop, { once: true });
      });
    } finally {
      this.#waiting = undefined;
      this.#server.unref();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject);
      resolve();
    });
  });
}
