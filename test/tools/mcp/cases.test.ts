import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { callTool, httpServer, oddServer, openTestServers, stdioServer, toolsOf } from "../../support/mcp.ts";
import { tempFolder } from "../../support/temp.ts";

const texts = (result: { content: unknown[] }) => result.content;
const words = (text: string) => [{ type: "text", text }];

test("M-01: what a server prints beside its messages is skipped, and its tools work", async () => {
  await using opened = await openTestServers({ demo: oddServer("banner") });
  expect(opened.notes).toEqual([]);
  expect(texts(await callTool(opened, "mcp__demo__echo", {}))).toEqual(words("heard"));
});

test("M-03: a server that dies in its first call is started again; what only reads is tried once more, and all later calls succeed", async () => {
  await using folder = await tempFolder("roocode-mcp");
  const mark = (name: string) => join(folder.path, name);
  await using opened = await openTestServers({ reads: oddServer("once", mark("a")), writes: oddServer("once", mark("b")) });
  expect(texts(await callTool(opened, "mcp__reads__look", {}))).toEqual(words("worked"));
  await expect(callTool(opened, "mcp__writes__act", {})).rejects.toThrow("It is unknown whether the call took effect");
  for (let again = 0; again < 2; again++) expect(texts(await callTool(opened, "mcp__writes__act", {}))).toEqual(words("worked"));
});

test("M-05, M-06: a changed list is the list; another server whose name begins alike keeps its own", async () => {
  await using opened = await openTestServers({ foo: oddServer("changing"), foo__bar: stdioServer() });
  const other = [...toolsOf(opened).keys()].filter((name) => name.startsWith("mcp__foo_bar__"));
  expect(other).toHaveLength(7);
  await callTool(opened, "mcp__foo__a", {});
  const gone = toolsOf(opened).get("mcp__foo__a");
  await eventually(() => toolsOf(opened).has("mcp__foo__b"));
  expect([...toolsOf(opened).keys()].filter((name) => name.startsWith("mcp__foo__"))).toEqual(["mcp__foo__b", "mcp__foo__c"]);
  expect(toolsOf(opened).get("mcp__foo__c")?.inputSchema).toEqual({ type: "object", properties: { fresh: { type: "number" } } });
  expect([...toolsOf(opened).keys()].filter((name) => name.startsWith("mcp__foo_bar__"))).toEqual(other);
  const context = { cwd: "/", callId: "c", signal: new AbortController().signal, progress: () => undefined };
  await expect(gone?.run({}, context)).rejects.toThrow('no longer offers the tool "a"');
});

test("M-07: one schema that no model takes costs its own tool only, and is named", async () => {
  await using opened = await openTestServers({ demo: oddServer("schemas") });
  expect([...toolsOf(opened).keys()]).toEqual(["mcp__demo__good", "mcp__demo__either"]);
  expect(toolsOf(opened).get("mcp__demo__either")?.inputSchema).toEqual({ type: "object", properties: { x: {} } });
  expect(opened.notes).toEqual(['MCP server "demo": the tool "bad" is left out: its inputSchema is of type "string".']);
});

test("M-09: names too long or with odd characters fit, are the same in the next run, and lead to the right tool", async () => {
  const name = "s".repeat(40);
  const namesOf = async () => {
    await using opened = await openTestServers({ [name]: oddServer("long") });
    const names = [...toolsOf(opened).keys()];
    for (const each of names) expect(each).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    const results = await Promise.all(names.map((each) => callTool(opened, each, {})));
    expect(results.map(texts)).toEqual(
      ["t".repeat(50), `${"t".repeat(49)}u`, "größe/messen", "größe messen"].map((own) => words(`did ${own}`)),
    );
    return names;
  };
  const names = await namesOf();
  expect(new Set(names).size).toBe(4);
  expect(await namesOf()).toEqual(names);
});

test("M-13: variables are filled in in command, arguments, env, address and headers, with what stands behind :- otherwise", async () => {
  await using remote = await httpServer("s3cret");
  const { port } = new URL(remote.url);
  const env = { PATH: process.env.PATH, NODE: process.execPath, KIND: "chatty", TOK: "s3cret", PORT: port };
  const { args } = stdioServer();
  const servers = {
    local: { command: "${NODE}", args: [args[0], "${KIND:-good}"], env: { A: "${TOK}", B: "${NONE:-8080}", C: "${NONE:-}" } },
    remote: { url: "http://127.0.0.1:${PORT}/mcp", headers: { "x-token": "${TOK}" } },
  };
  await using opened = await openTestServers(servers, { env });
  expect(opened.notes).toEqual([]);
  expect(texts(await callTool(opened, "mcp__local__echo", { text: "hi" }))).toEqual(words("chatty: hi"));
  const values = await Promise.all(["A", "B", "C"].map((name) => callTool(opened, "mcp__local__environment", { name })));
  expect(values.map(texts)).toEqual([words("s3cret"), words("8080"), [{ type: "text", text: "" }]]);
  expect(texts(await callTool(opened, "mcp__remote__echo", { text: "hi" }))).toEqual(words("http: hi"));
});

test("M-16: all pages are read, and a list that goes round in circles is left with a warning", async () => {
  await using opened = await openTestServers({ pages: oddServer("pages"), circle: oddServer("circle") });
  expect([...toolsOf(opened).keys()]).toEqual([
    "mcp__pages__page1",
    "mcp__pages__page2",
    "mcp__pages__page3",
    "mcp__circle__from_none",
    "mcp__circle__from_same",
  ]);
  expect(opened.notes).toEqual([expect.stringMatching(/^MCP server "circle": tools\/list: the same page comes again/)]);
});

test("M-17: a call that never answers ends with its time, progress gives it more, and an abort ends it at once", async () => {
  await using opened = await openTestServers({ demo: oddServer("progress", 100, { timeout: 500 }) });
  await expect(callTool(opened, "mcp__demo__hang", {})).rejects.toThrow("no answer within 0.5 s; the call was cancelled");
  expect(texts(await callTool(opened, "mcp__demo__work", {}))).toEqual(words("done at last"));
  const interrupt = new AbortController();
  const call = callTool(opened, "mcp__demo__hang", {}, interrupt.signal);
  const started = performance.now();
  interrupt.abort();
  await expect(call).rejects.toThrow();
  expect(performance.now() - started).toBeLessThan(500);
});

test("answers that nobody asked for are no answers", async () => {
  await using opened = await openTestServers({ demo: oddServer("strangers", "", { timeout: 500 }) });
  expect(texts(await callTool(opened, "mcp__demo__echo", {}))).toEqual(words("yours"));
  await expect(callTool(opened, "mcp__demo__lost", {})).rejects.toThrow("no answer within");
  expect(texts(await callTool(opened, "mcp__demo__echo", {}))).toEqual(words("yours"));
});

test("a server that floods its host with changes of its list goes on, and is asked for one list at a time", async () => {
  await using opened = await openTestServers({ demo: oddServer("flood") });
  const before = toolsOf(opened).size;
  expect(texts(await callTool(opened, "mcp__demo__echo", {}))).toEqual(words("heard"));
  await eventually(() => [...toolsOf(opened).keys()].some((name) => Number(/list_(\d+)/.exec(name)?.[1]) > 3));
  expect(await toolsOf(opened).get("mcp__demo__echo")?.current()).toMatchObject({ name: "mcp__demo__echo" });
  expect(toolsOf(opened).size).toBe(before);
});

test("a result of fifty megabytes is one error, and the server is there again for the next call", async () => {
  await using opened = await openTestServers({ demo: oddServer("huge") });
  await expect(callTool(opened, "mcp__demo__big", {})).rejects.toThrow(/ended during this call \(.*more than/s);
  expect(texts(await callTool(opened, "mcp__demo__small", {}))).toEqual(words("small"));
});

test("five hundred tools are five hundred tools, of more than a thousand the first ones", async () => {
  await using opened = await openTestServers({ many: oddServer("crowd", 500), more: oddServer("crowd", 1500) });
  expect([...toolsOf(opened).keys()].filter((name) => name.startsWith("mcp__many__"))).toHaveLength(500);
  expect([...toolsOf(opened).keys()].filter((name) => name.startsWith("mcp__more__"))).toHaveLength(1000);
  expect(opened.notes).toEqual([expect.stringContaining("only the first 1000 entries are used")]);
});

test("what is structured is told once, in the server's words where it has some", async () => {
  await using opened = await openTestServers({ demo: oddServer("structured") });
  expect(texts(await callTool(opened, "mcp__demo__both", {}))).toEqual(words("in words"));
  expect(texts(await callTool(opened, "mcp__demo__only", {}))).toEqual(words('{"n":1}'));
});

test("a server that wants a sign-in is one note that says how, and is marked so", async () => {
  const door = createServer((_request, response) => response.writeHead(401, { "www-authenticate": "Bearer" }).end());
  await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve));
  // A TCP server's address is never a string.
  const { port } = door.address() as AddressInfo;
  await using opened = await openTestServers({ locked: { url: `http://127.0.0.1:${port}/mcp` } });
  expect(opened.notes).toEqual(['MCP server "locked" is not there: it wants you to sign in. Do it with: roocode mcp test locked']);
  expect(opened.host.servers[0]?.needsSignIn).toBe(true);
  door.closeAllConnections();
  door.close();
});
