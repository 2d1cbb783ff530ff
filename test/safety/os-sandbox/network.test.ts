import { createServer, type Server } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readHostRule, ruleFor } from "../../../src/safety/os-sandbox/allowed-hosts.ts";
import { NetworkFilter } from "../../../src/safety/os-sandbox/network-filter.ts";
import { containedShell, sandboxDescribe } from "../../support/contained.ts";
import { tempFolder } from "../../support/temp.ts";

async function served(): Promise<{ server: Server; port: number; seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.headers.host} ${request.url} ${request.headers["proxy-authorization"]}`);
    response.end("from the server");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return { server, port: typeof address === "object" && address ? address.port : 0, seen };
}

/** A plain client of a proxy: CONNECT first, or the whole address in the request line; prints what comes back. */
const CLIENT = (target: string, isTunnel: boolean) => `
  const http = require("node:http");
  const { hostname, port } = new URL(process.env.http_proxy);
  const target = ${JSON.stringify(target)};
  const print = (response) => { let text = response.statusCode + " "; response.on("data", (d) => { text += d; }).on("end", () => console.log(text)); };
  if (${isTunnel}) http.request({ hostname, port, method: "CONNECT", path: target }).on("connect", (response, socket) => {
    if (response.statusCode !== 200) { console.log("refused " + response.statusCode); process.exitCode = 1; socket.destroy(); return; }
    http.get({ createConnection: () => socket, path: "/tunnel", headers: { host: target } }, print);
  }).end();
  else http.get({ hostname, port, path: "http://" + target + "/plain", headers: { host: "other.example", "proxy-authorization": "Basic x" } }, print);`;
const client = (target: string, isTunnel = true) => `node -e '${CLIENT(target, isTunnel)}'`;

describe("which hosts are let out", () => {
  const rules = ["example.org", "*.example.net", "localhost:8443"].flatMap((text) => readHostRule(text) ?? []);
  test.each([
    ["example.org", "443", true],
    ["example.org", "80", true],
    ["example.org", "22", false],
    ["a.example.org", "443", false],
    ["example.net", "443", false],
    ["a.b.example.net", "443", true],
    ["aexample.net", "443", false],
    ["localhost", "8443", true],
    ["localhost", "443", false],
  ])("%s port %s: %s", (host, port, isLetOut) => {
    expect(ruleFor(host, port, rules) !== undefined).toBe(isLetOut);
  });

  test("what is no host is no rule; case and letters of other scripts are spelled as the network spells them", () => {
    for (const text of ["*", "*.", "https://example.org", "a b", "example.org/path", "a.*.org", ""])
      expect(readHostRule(text), text).toBeUndefined();
    expect(readHostRule("*.BÜCHER.example")).toEqual({ host: "xn--bcher-kva.example", port: undefined, isExact: false });
  });
});

describe("the filter", () => {
  test("a pattern opens no private network, whatever a name leads to or however an address is written", async () => {
    const { server, port } = await served();
    await using folder = await tempFolder();
    const path = join(folder.path, "s");
    using filter = new NetworkFilter(["*.localhost", `*.0.1`].map((host) => ({ host: host.slice(2), port: String(port), isExact: false })));
    await filter.listen(path);
    const ask = (target: string) =>
      new Promise<string>((resolve) => {
        const socket = connect(path, () => socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: x\r\n\r\n`));
        let text = "";
        socket.on("data", (part) => {
          text += part;
          if (text.startsWith("HTTP/1.1 200")) socket.destroy();
        });
        socket.on("close", () => resolve(text));
      });
    for (const target of [`a.localhost:${port}`, `127.0.0.1:${port}`, `2130706433:${port}`, `[::1]:${port}`, "x y", ""])
      expect(await ask(target), target).toMatch(/^HTTP\/1.1 (403|400)/);
    expect(filter.takeRefused()).toContain(`a.localhost:${port}`);
    expect(filter.takeRefused()).toEqual([]);
    server.close();
  });
});

sandboxDescribe("a command in the OS sandbox with sandbox.network: [hosts]", () => {
  let shell: Awaited<ReturnType<typeof containedShell>>;
  let site: Awaited<ReturnType<typeof served>>;
  beforeAll(async () => {
    site = await served();
    shell = await containedShell({ settings: { network: [`localhost:${site.port}`] } });
  });
  afterAll(async () => {
    await shell[Symbol.asyncDispose]();
    site.server.close();
  });

  test("reaches a named host through a tunnel and by a plain request, which says the host that was judged and nothing of the proxy", async () => {
    expect((await shell.run(client(`localhost:${site.port}`))).text).toContain("200 from the server");
    expect((await shell.run(client(`localhost:${site.port}`, false))).text).toContain("200 from the server");
    expect(site.seen).toEqual([`localhost:${site.port} /tunnel undefined`, `localhost:${site.port} /plain undefined`]);
  });

  test("a name of this machine that was listed means the machine's; the others stay the sandbox's own", async () => {
    expect((await shell.run("echo $no_proxy $NO_PROXY $https_proxy")).text).toContain("127.0.0.1,::1 127.0.0.1,::1 http://127.0.0.1:3128");
    await using other = await containedShell({ settings: { network: ["example.org"] } });
    expect((await other.run("echo $no_proxy")).text).toContain("localhost,127.0.0.1,::1");
  });

  test("reaches nothing else, and the model is told which host it was", async () => {
    for (const target of [`127.0.0.1:${site.port}`, "example.org:443", "localhost:1"]) {
      const { text } = await shell.run(client(target));
      expect(text).toContain("refused 403");
      expect(text).toContain(`${target.replace(":443", "")} is not let out there`);
    }
    const straight = await shell.run(
      `node -e 'require("net").connect(${site.port}, "127.0.0.1").on("error", (e) => { console.log(e.code); process.exit(1); })'`,
    );
    expect(straight.text).toContain("ECONNREFUSED");
  });

  test("keeps its exit code, its signal, its words and an input that is closed, and ends when it ends", async () => {
    expect((await shell.run(`printf '%s|' "a b" '$x'; cat; exit 3`)).text).toMatch(/a b\|\$x\|[\s\S]*exit code 3/i);
    expect((await shell.run("kill -TERM $$")).text).toMatch(/TERM/);
    expect((await shell.run("jobs; wait; ls /proc/self/fd | wc -l; echo over")).text).toMatch(/over/);
  });
});
