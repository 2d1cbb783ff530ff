import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fakeModel, inOrder, PROTOCOLS } from "../support/fake-model.ts";
import { type TestHome, testHome } from "../support/home.ts";
import { stdioServer } from "../support/mcp.ts";
import { assertSessionLegal } from "../support/proxy.ts";

const ECHO = inOrder({ calls: [{ name: "mcp__demo__echo", input: { text: "hello" } }] }, { text: "Done." });
const BYPASS = ["--permission-mode", "bypassPermissions"];

async function configFile(home: TestHome, servers: Record<string, unknown>, path = join(home.home, "servers.json")): Promise<string> {
  await writeFile(path, JSON.stringify({ mcpServers: servers }));
  return path;
}

async function userSettings(home: TestHome, settings: Record<string, unknown>): Promise<void> {
  await mkdir(home.data, { recursive: true });
  await writeFile(join(home.data, "config.yaml"), JSON.stringify(settings));
}

const SEARCH = inOrder(
  { calls: [{ name: "ToolSearch", input: { query: "says again" } }] },
  { calls: [{ name: "mcp__demo__echo", input: { text: "hello" } }] },
  { text: "Done." },
);

/** Of a body in either protocol. */
function toolNames(body: string): string[] {
  const { tools }: { tools: { name?: string; function?: { name: string } }[] } = JSON.parse(body);
  return tools.map((tool) => tool.name ?? tool.function?.name ?? "");
}

test.each(PROTOCOLS)("over %s a tool is announced by its name, found, and stands behind all others from then on", async (protocol) => {
  await using model = await fakeModel(SEARCH);
  await using home = await testHome();
  const file = await configFile(home, { demo: stdioServer() });
  const run = await home.roocode(["-p", "--mcp-config", file, ...BYPASS, "Say hello"], { env: model.env(protocol) });
  expect(run).toEqual({ code: 0, stdout: "Done.\n", stderr: "" });
  const bodies = model.proxy.captures.map(({ body }) => body);
  const [first = [], second = [], third = []] = bodies.map(toolNames);
  expect(first).toContain("ToolSearch");
  expect(first.filter((name) => name.startsWith("mcp__"))).toEqual([]);
  expect(second).toEqual([...first, "mcp__demo__echo"]);
  expect(third).toEqual(second);
  expect(bodies[2]).toContain("good: hello");
  model.proxy.assertLegal({ toolsGrow: true });
  await assertSessionLegal((await home.sessions())[0] ?? "");
});

test.each(PROTOCOLS)(
  "over %s what was found is sent again, byte for byte, by a session that goes on, without its server, and by a fork",
  async (protocol) => {
    await using model = await fakeModel(({ steps, rounds }) => {
      const said = steps.findLast((step) => step.type === "words" && step.from === "user");
      return said?.type === "words" && /go on/.test(said.text) ? { text: "Went on." } : SEARCH({ steps, rounds } as never);
    });
    await using home = await testHome();
    const file = await configFile(home, { demo: stdioServer() });
    const env = model.env(protocol);
    await home.roocode(["-p", "--mcp-config", file, ...BYPASS, "Say hello"], { env });
    for (const more of [["--mcp-config", file], [], ["--fork-session"]])
      expect(await home.roocode(["-p", "-c", "go on", ...more], { env })).toMatchObject({ code: 0, stdout: "Went on.\n" });
    const tools = model.proxy.captures.map(({ body }) =>
      JSON.stringify(JSON.parse(body).tools).replaceAll(/,"cache_control":\{[^}]*\}/g, ""),
    );
    expect(new Set(tools.slice(1)).size).toBe(1);
    expect(tools[1]?.startsWith(tools[0]?.slice(0, -1) ?? "")).toBe(true);
    model.proxy.assertLegal({ toolsGrow: true });
  },
);

test("a tool that is called by its name without a search runs, and the history names it", async () => {
  await using model = await fakeModel(ECHO);
  await using home = await testHome();
  const file = await configFile(home, { demo: stdioServer() });
  const run = await home.roocode(["-p", "--mcp-config", file, ...BYPASS, "Say hello"], { env: model.env("openai") });
  expect(run).toEqual({ code: 0, stdout: "Done.\n", stderr: "" });
  expect(toolNames(model.proxy.captures[1]?.body ?? "").at(-1)).toBe("mcp__demo__echo");
  expect(model.proxy.captures[1]?.body).toContain("good: hello");
  model.proxy.assertLegal({ toolsGrow: true });
});

test("in mode default a call is denied without a rule, and allowed with one for its name", async () => {
  await using model = await fakeModel(ECHO);
  await using home = await testHome();
  await userSettings(home, { mcpServers: { demo: stdioServer() } });
  const denied = await home.roocode(["-p", "Say hello"], { env: model.env("anthropic") });
  expect(denied).toMatchObject({ code: 0, stdout: "Done.\n" });
  expect(denied.stderr).toContain('denied: mcp__demo__echo({"text":"hello"})');
  expect(denied.stderr).toContain('"mcp__demo__echo" in permissions.allow would allow it');

  await userSettings(home, { mcpServers: { demo: stdioServer() }, permissions: { allow: ["mcp__demo__echo"] } });
  const allowed = await home.roocode(["-p", "Say hello"], { env: model.env("anthropic") });
  expect(allowed).toEqual({ code: 0, stdout: "Done.\n", stderr: "" });
  expect(model.proxy.captures.at(-1)?.body).toContain("good: hello");
});

test("a server that dies is one note and its name in init; the session goes on without it", async () => {
  await using model = await fakeModel(() => ({ text: "Done." }));
  await using home = await testHome();
  const file = await configFile(home, { broken: stdioServer("dies", { required: true }), demo: stdioServer() });
  const run = await home.roocode(["-p", "Hi", "--mcp-config", file, "--output-format", "stream-json"], { env: model.env("anthropic") });
  expect(run.code).toBe(0);
  expect(run.stderr).toContain('MCP server "broken" is not there: it ended with exit code 3');
  expect(run.stderr).toContain("no licence found");
  expect(run.stderr.match(/"broken" is not there/g)).toHaveLength(1);
  const servers: { name: string; status: string }[] = JSON.parse(run.stdout.split("\n")[0] ?? "").mcp_servers;
  expect(servers.map(({ name }) => name)).toEqual(["broken", "demo"]);
  expect(servers.every(({ status }) => ["pending", "failed", "connected"].includes(status))).toBe(true);
});

test("a session that began without servers gets ToolSearch at the end once there are some", async () => {
  await using model = await fakeModel(() => ({ text: "Done." }));
  await using home = await testHome();
  await home.roocode(["-p", "one"], { env: model.env("anthropic") });
  const file = await configFile(home, { demo: stdioServer("good", { required: true }) });
  await home.roocode(["-p", "-c", "two", "--mcp-config", file], { env: model.env("anthropic") });
  const [before = [], after] = model.proxy.captures.map(({ body }) => toolNames(body));
  expect(before).not.toContain("ToolSearch");
  expect(after).toEqual([...before, "ToolSearch"]);
  expect(model.proxy.captures[1]?.body).toContain("mcp__demo__echo: Says it again.");
  model.proxy.assertLegal({ toolsGrow: true });
});

test("what a project brings is started once exactly that was accepted, and no longer when it changes", async () => {
  await using model = await fakeModel(() => ({ text: "Done." }));
  await using home = await testHome();
  const started = join(home.home, "started");
  const shared = (kind: string) =>
    // The first request waits for this one, and so the run is long enough for the other to start.
    configFile(
      home,
      { demo: { ...stdioServer(kind), required: true }, "a b": { command: "touch", args: [started] } },
      join(home.repo, ".mcp.json"),
    );
  await shared("good");
  await mkdir(join(home.repo, ".roocode"));
  await writeFile(join(home.repo, ".roocode/config.yaml"), "mcpServers: { other: { command: touch, args: [started] } }\n");
  const env = model.env("anthropic");
  const first = await home.roocode(["-p", "Hi"], { env });
  expect(first.stderr.trim().split("\n")).toHaveLength(1);
  expect(first.stderr).toContain("This folder is not trusted");
  expect(first.stderr).toContain(`server other: touch started, server demo: ${process.execPath}`);
  expect(first.stderr).toContain(`server a b: touch ${started}`);
  expect(model.proxy.captures[0]?.body).not.toContain("mcp__");
  expect(existsSync(started)).toBe(false);

  await home.roocode(["-p", "Hi", "--trust"], { env });
  await home.roocode(["-p", "Hi"], { env });
  expect(model.proxy.captures[2]?.body).toContain("mcp__demo__echo");
  expect(existsSync(started)).toBe(true);

  await shared("chatty");
  const changed = await home.roocode(["-p", "Hi"], { env });
  expect(changed.stderr).toContain("This folder is not trusted");
  expect(model.proxy.captures[3]?.body).not.toContain("mcp__");

  await writeFile(join(home.repo, ".mcp.json"), "{");
  await writeFile(join(home.repo, ".roocode/config.yaml"), "");
  const broken = await home.roocode(["-p", "Hi"], { env });
  expect(broken).toMatchObject({ code: 0, stderr: expect.stringContaining(".mcp.json is no JSON") });
});

test("a bad file is exit 2 and one line that names the field", async () => {
  await using home = await testHome();
  const bad = async (content: string) => {
    await writeFile(join(home.repo, "bad.json"), content);
    const { code, stderr } = await home.roocode(["-p", "Hi", "--mcp-config", "bad.json"]);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    return { code, stderr };
  };
  expect(await bad('{"mcpServers": {"demo": {"command": 5}}}')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("bad.json: mcpServers.demo.command:"),
  });
  expect(await bad("{}")).toMatchObject({ code: 2, stderr: expect.stringContaining("mcpServers: is missing") });
  expect(await bad("mcpServers:")).toMatchObject({ code: 2, stderr: expect.stringContaining("bad.json is no JSON") });
  const absent = await home.roocode(["mcp", "list", "--mcp-config", "none.json"]);
  expect(absent).toMatchObject({ code: 2, stderr: "roocode: There is no file none.json (--mcp-config).\n" });
});

test("mcp list shows what is configured and starts nothing; mcp test connects", async () => {
  await using home = await testHome();
  expect((await home.roocode(["mcp", "list"])).stdout).toContain("No MCP servers.");
  const remote = { url: "http://127.0.0.1:9/mcp", headers: { authorization: "secret" } };
  await userSettings(home, { mcpServers: { demo: stdioServer(), odd: { url: 5 } } });
  const file = await configFile(home, { broken: stdioServer("dies"), remote });
  const list = await home.roocode(["mcp", "list", "--mcp-config", file, "--json"]);
  expect(list.code).toBe(1);
  const { servers, problems } = JSON.parse(list.stdout);
  expect(servers.map((server: { name: string; type: string }) => `${server.name} ${server.type}`)).toEqual([
    "demo stdio",
    "broken stdio",
    "remote http",
  ]);
  expect(problems).toEqual([expect.stringContaining("mcpServers.odd.url")]);
  expect(list.stdout).not.toContain("secret");

  const good = await home.roocode(["mcp", "test", "demo"]);
  expect(good).toMatchObject({ code: 0, stderr: "" });
  expect(good.stdout).toMatch(/^demo: demo-server 1\.2\.3, protocol 2025-06-18, 7 tools, \d+ ms\n {2}mcp__demo__echo {2}Says it again\.\n/);
  const broken = await home.roocode(["mcp", "test", "broken", "--mcp-config", file, "--json"]);
  expect(broken.code).toBe(1);
  expect(JSON.parse(broken.stdout)).toMatchObject({ name: "broken", ok: false, error: expect.stringContaining("no licence found") });
  expect(await home.roocode(["mcp", "test", "nobody"])).toMatchObject({ code: 2, stderr: expect.stringContaining("Servers: demo.") });
});

test("nothing of the SDK loads before a server is started", async () => {
  const meta: Meta = JSON.parse(await readFile(new URL("../../dist/meta.json", import.meta.url), "utf8"));
  const entries = Object.entries(meta.outputs).filter(([, output]) => output?.entryPoint !== undefined);
  const loading = entries.filter(([name]) => [...loadedWith(meta, name)].some((each) => holdsSdk(meta, each)));
  expect(loading.map(([, output]) => output?.entryPoint).sort()).toEqual([
    "src/interaction/commands/mcp-test.ts",
    "src/runtime/mcp-sign-in.ts",
    "src/runtime/session-mcp.ts",
  ]);
});

type Meta = {
  outputs: Record<string, { entryPoint?: string; inputs: Record<string, unknown>; imports: { path: string; kind: string }[] } | undefined>;
};

/** A chunk and all that it imports at once. */
function loadedWith(meta: Meta, name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const { path, kind } of meta.outputs[name]?.imports ?? []) if (kind === "import-statement") loadedWith(meta, path, seen);
  return seen;
}

function holdsSdk(meta: Meta, name: string): boolean {
  return Object.keys(meta.outputs[name]?.inputs ?? {}).some((input) => input.includes("@modelcontextprotocol"));
}
