import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** "cut" destroys the socket; "hang" says nothing more until the client goes. */
type RawStep = string | Uint8Array | { pauseMs: number } | "cut" | "hang";
export type RawReply = { status?: number; headers?: Record<string, string>; steps: readonly RawStep[] };
type RawRequest = { path: string; headers: IncomingHttpHeaders; body: string };
export type RawServer = AsyncDisposable & {
  url: string;
  requests: RawRequest[];
  openSockets(): number;
  /** Connections since the start. */
  connections(): number;
};

/** A server on loopback that plays replies byte by byte, one a request; the last one again and again. */
export async function rawServer(...replies: readonly RawReply[]): Promise<RawServer> {
  const sockets = new Set<Socket>();
  const requests: RawRequest[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (text: string) => {
      body += text;
    });
    request.on("end", () => {
      requests.push({ path: request.url ?? "", headers: request.headers, body });
      const reply = replies[requests.length - 1] ?? replies.at(-1);
      if (reply) void play(reply, response);
    });
  });
  server.on("connection", (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    requests,
    openSockets: () => sockets.size,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      // A TCP server's address is never a string.
      resolve((server.address() as AddressInfo).port);
    });
  });
}

async function play(reply: RawReply, response: ServerResponse): Promise<void> {
  response.writeHead(reply.status ?? 200, { "content-type": "text/event-stream", ...reply.headers });
  response.flushHeaders();
  for (const step of reply.steps) {
    if (step === "hang") return;
    if (step === "cut") {
      response.socket?.destroy();
      return;
    }
    if (typeof step === "string" || step instanceof Uint8Array) await new Promise((resolve) => response.write(step, resolve));
    else await delay(step.pauseMs);
  }
  response.end();
}
