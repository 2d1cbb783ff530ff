import { expect, test } from "vitest";
import { processStart } from "../../../src/platform/process.ts";
import { callTool, configured, httpServer, openTestServers, stdioServer, toolsOf } from "../../support/mcp.ts";

test("a server's tools are tools named mcp__server__tool, with the schema as it came", async () => {
  await using opened = await openTestServers({ demo: stdioServer() });
  const echo = toolsOf(opened).get("mcp__demo__echo");
  expect(opened.notes).toEqual([]);
  expect(opened.servers[0]?.about).toEqual({ name: "demo-server", version: "1.2.3", protocol: "2025-06-18" });
  expect(echo?.description).toBe("Says it again.");
  expect(echo?.inputSchema).toEqual({
    type: "object",
    properties: { text: { $ref: "#/$defs/Text" } },
    required: ["text"],
    $defs: { Text: { type: "string", description: "What comes back." } },
  });
  expect(echo?.access({ text: "hi" })).toEqual({ kind: "command", subject: '{"text":"hi"}' });
  expect(() => echo?.parse("hi")).toThrow("must be an object");
});

test("text, pictures, refusals and bare structured content come back as results", async () => {
  await using opened = await openTestServers({ demo: stdioServer() });
  expect(await callTool(opened, "mcp__demo__echo", { text: "hi" })).toEqual({ content: [{ type: "text", text: "good: hi" }] });
  expect(await callTool(opened, "mcp__demo__picture", {})).toEqual({
    content: [
      { type: "image", mediaType: "image/png", data: expect.stringMatching(/^iVBOR/) },
      { type: "text", text: "One pixel." },
    ],
  });
  expect(await callTool(opened, "mcp__demo__refuse", {})).toEqual({
    content: [{ type: "text", text: "That can't be done." }],
    isError: true,
  });
  expect(await callTool(opened, "mcp__demo__structured", {})).toEqual({ content: [{ type: "text", text: '{"y":1}' }] });
});

test("servers that hang, die, babble or do not exist are notes, and the good one works", async () => {
  const servers = {
    slow: stdioServer("slow"),
    dies: stdioServer("dies"),
    garbage: stdioServer("garbage"),
    absent: { command: "no-such-program-here" },
    nowhere: { url: "http://127.0.0.1:9/mcp" },
    demo: stdioServer(),
  };
  await using opened = await openTestServers(servers, { connectMs: 1500 });
  expect(opened.servers.map((server) => server.name)).toEqual(["demo"]);
  const [slow, dies, garbage, absent, nowhere] = Object.keys(servers).map((name) =>
    opened.notes.find((note) => note.includes(`"${name}"`)),
  );
  expect(slow).toBe('MCP server "slow" is not there: no answer within 1.5 s. Its last words:\ndemo-server starts');
  expect(dies).toBe('MCP server "dies" is not there: it ended with exit code 3. Its last words:\ndemo-server starts\nno licence found');
  expect(garbage).toContain("no answer within 1.5 s");
  expect(absent).toContain('"no-such-program-here" could not be started');
  expect(nowhere).toMatch(/MCP server "nowhere" is not there: .+/);
  expect(await callTool(opened, "mcp__demo__echo", { text: "still here" })).toMatchObject({ content: [{ text: "good: still here" }] });
});

test("a server that logs to its output between messages works", async () => {
  await using opened = await openTestServers({ chatty: stdioServer("chatty") });
  expect(await callTool(opened, "mcp__chatty__echo", { text: "hi" })).toMatchObject({ content: [{ text: "chatty: hi" }] });
});

test("a server without tools is there and has none", async () => {
  await using opened = await openTestServers({ demo: stdioServer("toolless") });
  expect(opened).toMatchObject({ servers: [{ name: "demo", lists: { tools: [] } }], notes: [] });
});

test("a tool that is wrong costs only itself, on whichever page it stands", async () => {
  await using opened = await openTestServers({ demo: stdioServer("faulty") });
  expect([...toolsOf(opened).keys()].slice(0, 2)).toEqual(["mcp__demo__bare", "mcp__demo__echo"]);
  expect(toolsOf(opened).size).toBe(8);
  expect(toolsOf(opened).get("mcp__demo__bare")?.inputSchema).toEqual({ type: "object", properties: {} });
  expect(opened.notes).toEqual([
    expect.stringMatching(/^MCP server "demo": tools\/list: entry 3, 5, is left out: name/),
    'MCP server "demo": the tool "list" is left out: its inputSchema is of type "array".',
  ]);
});

test("M-03: a server that dies in a call is started again; what may have had an effect is not repeated, and said", async () => {
  await using opened = await openTestServers({ demo: stdioServer() });
  const error = await callTool(opened, "mcp__demo__die", {}).catch((reason: unknown) => String(reason));
  expect(error).toContain('the MCP server "demo" ended during this call (it ended with exit code 3.');
  expect(error).toContain("out of memory");
  expect(error).toContain("It is unknown whether the call took effect. The server was started again.");
  for (const text of ["one", "two"])
    expect(await callTool(opened, "mcp__demo__echo", { text })).toMatchObject({ content: [{ text: `good: ${text}` }] });
  expect(opened.notes).toEqual([
    expect.stringContaining('MCP server "demo" is gone (it ended with exit code 3.'),
    'MCP server "demo" is there now.',
  ]);
});

test("an abort ends a call that hangs, and the server goes on", async () => {
  await using opened = await openTestServers({ demo: stdioServer() });
  const interrupt = new AbortController();
  const call = callTool(opened, "mcp__demo__hang", {}, interrupt.signal);
  interrupt.abort();
  await expect(call).rejects.toThrow();
  expect(await callTool(opened, "mcp__demo__echo", { text: "hi" })).toMatchObject({ content: [{ text: "good: hi" }] });
});

test("a server that ends for nothing is stopped with what it started, at the end and when it never answered", async () => {
  const slow = { command: "bash", args: ["-c", 'trap "" TERM; sleep 1000 & echo "child $! of $$" >&2; while :; do sleep 1; done'] };
  await using failed = await openTestServers({ slow }, { connectMs: 700 });
  expect(livingOf(failed.notes[0])).toEqual([]);

  const opened = await openTestServers({ stubborn: stdioServer("stubborn") });
  await opened[Symbol.asyncDispose]();
  const error: unknown = await callTool(opened, "mcp__stubborn__echo", { text: "hi" }).catch((reason: unknown) => reason);
  expect(livingOf(String(error))).toEqual([]);
});

/** Of the two processes that a stubborn server names on its stderr, those that still run. */
function livingOf(words = ""): string[] {
  const [, ...pids] = /child (\d+) of (\d+)/.exec(words) ?? [];
  expect(pids).toHaveLength(2);
  return pids.filter((pid) => processStart(Number(pid)) !== undefined);
}

test("a server sees its own variables, those it is given, and no provider's key", async () => {
  const env = { PATH: process.env.PATH, ANTHROPIC_API_KEY: "sk-ant-secret", ROOM: "kitchen" };
  const servers = { demo: stdioServer("good", { env: { GIVEN: "${ROOM} and ${OTHER:-hall}" } }) };
  await using opened = await openTestServers(servers, { env });
  const value = async (name: string) => (await callTool(opened, "mcp__demo__environment", { name })).content[0];
  expect(await value("GIVEN")).toEqual({ type: "text", text: "kitchen and hall" });
  expect(await value("ROOM")).toEqual({ type: "text", text: "kitchen" });
  expect(await value("ANTHROPIC_API_KEY")).toEqual({ type: "text", text: "undefined" });
});

test("a variable that is not set is one note that names it, and nothing starts", async () => {
  await using opened = await openTestServers({ demo: stdioServer("good", { env: { A: "${NOT_SET} ${NOR_THIS}", B: "${NOT_SET}" } }) });
  expect(opened.servers).toEqual([]);
  expect(opened.notes).toEqual(['MCP server "demo" is not there: the environment has no NOT_SET, NOR_THIS (test settings).']);
});

test("streamable HTTP works, with headers from the environment; a refusal is a note", async () => {
  await using server = await httpServer("s3cret");
  const env = { TOKEN: "s3cret" };
  const servers = {
    remote: { url: server.url, headers: { "x-token": "${TOKEN}" } },
    stranger: { url: server.url },
    odd: { url: "nonsense" },
  };
  await using opened = await openTestServers(servers, { env });
  expect(await callTool(opened, "mcp__remote__echo", { text: "hi" })).toMatchObject({ content: [{ text: "http: hi" }] });
  expect(opened.notes).toEqual([
    'MCP server "odd" is not there: its url is none (test settings).',
    expect.stringMatching(/MCP server "stranger" is not there: .*403/s),
  ]);
});

test("of several servers each has its own tools, however their names are spelled", async () => {
  await using opened = await openTestServers({ "my server": stdioServer("good"), my_server: stdioServer("chatty") });
  const names = [...toolsOf(opened).keys()].filter((name) => name.endsWith("echo"));
  expect(names).toEqual([expect.stringMatching(/^mcp__my_server_[0-9a-f]{8}__echo$/), "mcp__my_server__echo"]);
  expect(configured({ "my server": {}, a: { command: "x" } }).map((server) => server.name)).toEqual(["a"]);
});

test("names too long or illegal are shortened and stay apart", async () => {
  await using opened = await openTestServers({ demo: stdioServer("long") });
  const names = [...toolsOf(opened).keys()];
  expect(new Set(names).size).toBe(4);
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  const second = names.find((name) => toolsOf(opened).get(name)?.description === "two");
  expect(await callTool(opened, second ?? "", {})).toMatchObject({ content: [{ text: expect.stringMatching(/_two$/) }] });
});
