import { readdirSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { NetworkFilter } from "../../../src/safety/os-sandbox/network-filter.ts";
import { eventually } from "../../support/eventually.ts";
import { tempFolder } from "../../support/temp.ts";

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return typeof address === "object" && address ? address.port : 0;
}

/** What comes back until the filter hangs up. */
function ask(path: string, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(path, () => socket.write(text));
    let got = "";
    socket.on("data", (part) => {
      got += part;
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(got));
  });
}

async function filtered(answer: (socket: Socket) => void) {
  const held: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    held.push(socket.on("error", () => undefined));
    answer(socket);
  });
  const port = await portOf(server);
  const folder = await tempFolder();
  const path = join(folder.path, "s");
  const filter = new NetworkFilter([{ host: "localhost", port: String(port), isExact: true }]);
  await filter.listen(path);
  return {
    path,
    filter,
    host: `localhost:${port}`,
    held,
    async [Symbol.asyncDispose]() {
      filter[Symbol.dispose]();
      for (const socket of held) socket.destroy();
      server.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

test("a server that answers oddly costs its own request, not the agent", async () => {
  await using site = await filtered((socket) => socket.once("data", () => socket.end("HTTP/1.1 099 odd\r\ncontent-length: 0\r\n\r\n")));
  const got = await ask(site.path, `GET http://${site.host}/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
  expect(got).toMatch(/^HTTP\/1\.1 502 /);
});

test("each request of a connection is judged by itself, and what is not plain in it is refused", async () => {
  await using site = await filtered((socket) => socket.once("data", () => socket.end("HTTP/1.1 200 ok\r\ncontent-length: 2\r\n\r\nhi")));
  const get = (host: string, more = "") => `GET http://${host}/ HTTP/1.1\r\nhost: ${site.host}\r\n${more}\r\n`;
  expect(await ask(site.path, get(site.host) + get("other.example"))).toMatch(/^HTTP\/1\.1 200[\s\S]*HTTP\/1\.1 403/);
  const both = "content-length: 3\r\ntransfer-encoding: chunked\r\n";
  expect(await ask(site.path, get(site.host, both))).toMatch(/^HTTP\/1\.1 400/);
  expect(await ask(site.path, get(`${site.host}@other.example`))).toMatch(/^HTTP\/1\.1 403/);
});

test("when no command runs any more nothing of its connections is left, though the other side never hangs up", async () => {
  await using site = await filtered((socket) => socket.resume());
  const openFiles = () => readdirSync("/proc/self/fd").length;
  const before = openFiles();
  for (let number = 0; number < 10; number += 1)
    await new Promise<void>((resolve) => {
      const socket = connect(site.path, () => socket.write(`CONNECT ${site.host} HTTP/1.1\r\nhost: x\r\n\r\n`));
      socket.once("data", () => socket.destroy());
      socket.once("close", () => resolve());
    });
  expect(openFiles()).toBeGreaterThan(before + 20);
  site.filter.hangUp();
  // What is left is this test's own end of the ten connections.
  for (const socket of site.held) socket.destroy();
  await eventually(() => openFiles() <= before);
});

test("no more connections than 200 are held at once", async () => {
  await using site = await filtered((socket) => socket.resume());
  let closed = 0;
  const sockets = Array.from({ length: 230 }, () => {
    const socket = connect(site.path);
    socket
      .on("error", () => undefined)
      .on("close", () => {
        closed += 1;
      });
    return socket;
  });
  await eventually(() => closed === 30);
  for (const socket of sockets) socket.destroy();
});
