import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from "node:net";
import { describe, expect, test } from "vitest";
import { proxyFor } from "../../../src/engine/providers/proxy.ts";
import { selectModel } from "../../../src/engine/providers/select.ts";
import { rawServer } from "../../support/raw-sse.ts";
import { modelRequest } from "../../support/requests.ts";
import { collect, vectorBytes } from "../../support/streams.ts";

function ask(env: Record<string, string>) {
  const { client } = selectModel({ providers: [], env: { OPENAI_API_KEY: "k", ...env } });
  return collect(client.stream(modelRequest(), new AbortController().signal));
}

async function listening(server: Server): Promise<{ port: number } & AsyncDisposable> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP server's address is never a string.
  const { port } = server.address() as AddressInfo;
  return { port, [Symbol.asyncDispose]: async () => void server.close() };
}

describe("proxies of the environment", () => {
  const found = (url: string, env: Record<string, string>) => proxyFor(new URL(url), env)?.href;

  test("are chosen by the URL's protocol, in either spelling, with or without a scheme", () => {
    expect(found("https://a.test/", { HTTPS_PROXY: "http://p:1", HTTP_PROXY: "http://p:2" })).toBe("http://p:1/");
    expect(found("http://a.test/", { HTTPS_PROXY: "http://p:1", http_proxy: "p:2" })).toBe("http://p:2/");
    expect(found("https://a.test/", { ALL_PROXY: "http://p:3" })).toBe("http://p:3/");
    expect(found("https://a.test/", { HTTPS_PROXY: "socks5://p:1" })).toBeUndefined();
  });

  test("are not used for loopback and for what NO_PROXY names", () => {
    const env = { HTTPS_PROXY: "http://p:1", HTTP_PROXY: "http://p:1", NO_PROXY: "corp.test, .inner.test" };
    for (const url of ["http://127.0.0.1:9/", "http://localhost/", "https://corp.test/", "https://x.corp.test/", "https://a.inner.test/"]) {
      expect([url, found(url, env)]).toEqual([url, undefined]);
    }
    expect(found("https://notcorp.test/", env)).toBe("http://p:1/");
    expect(found("https://a.test/", { ...env, NO_PROXY: "*" })).toBeUndefined();
  });
});

test("a request to an http server is asked of the proxy by its whole URL, with the proxy's own credentials", async () => {
  await using proxy = await rawServer({ steps: [vectorBytes("oai-finish-no-done")] });
  const events = await ask({ OPENAI_BASE_URL: "http://model.test/v1", HTTP_PROXY: proxy.url.replace("//", "//me:pass@") });
  expect(events.at(-1)).toMatchObject({ type: "end", stop: "end_turn" });
  expect(proxy.requests[0]).toMatchObject({
    path: "http://model.test/v1/chat/completions",
    headers: { host: "model.test", "proxy-authorization": `Basic ${btoa("me:pass")}`, authorization: "Bearer k" },
  });
});

test("a request to an https server goes through a tunnel, and TLS begins inside of it", async () => {
  let hello = Buffer.alloc(0);
  await using target = await listening(
    createTcpServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", (data) => {
        hello = data;
        socket.destroy();
      });
    }),
  );
  const asked: (string | undefined)[] = [];
  const server = createServer();
  server.on("connect", (request, socket) => {
    asked.push(request.url);
    const through = connect(target.port, "127.0.0.1", () => socket.write("HTTP/1.1 200 OK\r\n\r\n"));
    for (const end of [through, socket]) end.on("error", () => undefined);
    through.pipe(socket).pipe(through);
  });
  await using proxy = await listening(server);
  const events = await ask({ OPENAI_BASE_URL: "https://model.test/v1", HTTPS_PROXY: `127.0.0.1:${proxy.port}` });
  expect(asked).toEqual(["model.test:443"]);
  expect([hello[0], hello.includes("model.test")]).toEqual([0x16, true]);
  expect(events[0]).toMatchObject({ type: "error", kind: "network", retryable: true });
});

test("a proxy that refuses or does not answer is named in the error", async () => {
  const server = createServer();
  server.on("connect", (_request, socket) => socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"));
  await using proxy = await listening(server);
  const url = `127.0.0.1:${proxy.port}`;
  expect((await ask({ OPENAI_BASE_URL: "https://model.test/v1", HTTPS_PROXY: url }))[0]).toMatchObject({
    type: "error",
    text: expect.stringMatching(`${url} refused.*407`),
  });
  const gone = await listening(createTcpServer());
  await gone[Symbol.asyncDispose]();
  const events = await ask({ OPENAI_BASE_URL: "https://model.test/v1", HTTPS_PROXY: `127.0.0.1:${gone.port}` });
  expect(events[0]).toMatchObject({ type: "error", kind: "network", text: expect.stringContaining("ECONNREFUSED") });
});
