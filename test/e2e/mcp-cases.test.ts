import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Answer } from "../../src/interaction/demo/conversation.ts";
import { type FakeModel, fakeModel, inOrder, PROTOCOLS, type Protocol } from "../support/fake-model.ts";
import { type TestHome, testHome } from "../support/home.ts";
import { oddServer, stdioServer } from "../support/mcp.ts";

const BYPASS = ["--permission-mode", "bypassPermissions"];
const call = (name: string, input: Record<string, unknown> = {}): Answer => ({ calls: [{ name, input }] });
const search = (query: string) => call("ToolSearch", { query });

async function settings(home: TestHome, content: Record<string, unknown>): Promise<void> {
  await mkdir(home.data, { recursive: true });
  await writeFile(join(home.data, "config.yaml"), JSON.stringify(content));
}

/** As the settings name it, so that more can be said of it than the environment can. */
function provider(model: FakeModel, protocol: Protocol, more: Record<string, unknown> = {}) {
  const env = model.env(protocol);
  return { name: "mine", protocol, baseUrl: env.ANTHROPIC_BASE_URL ?? env.OPENAI_BASE_URL, model: "any", contextWindow: 200_000, ...more };
}

type Body = {
  tools: { name?: string; defer_loading?: boolean; cache_control?: unknown; function?: { name: string } }[];
  messages: unknown[];
};
const bodies = (model: FakeModel): Body[] => model.proxy.captures.map(({ body }) => JSON.parse(body));
const names = ({ tools }: Body) => tools.map((tool) => tool.name ?? tool.function?.name ?? "");
const plain = (value: unknown) => JSON.stringify(value).replaceAll(/,?"cache_control":\{[^}]*\}/g, "");

test.each(PROTOCOLS)(
  "M-05: over %s the next request tells what a server changed, and a call of what is gone is refused cleanly",
  async (protocol) => {
    const rounds = inOrder(
      search("select:mcp__demo__a,mcp__demo__c"),
      call("mcp__demo__a"),
      call("Bash", { command: "sleep 1" }),
      call("mcp__demo__a"),
      search("does b"),
      {
        text: "Done.",
      },
    );
    await using model = await fakeModel(rounds);
    await using home = await testHome();
    await settings(home, { mcpServers: { demo: oddServer("changing", "", { required: true }) } });
    await home.roocode(["-p", ...BYPASS, "Go"], { env: model.env(protocol) });
    const last = model.proxy.captures.at(-1)?.body ?? "";
    expect(last).toContain("has new tools:\\n- mcp__demo__b: Does b.");
    expect(last).toContain("no longer offers: mcp__demo__a.");
    expect(last).toContain("The input schema of mcp__demo__c is another one now");
    expect(last).toContain("no longer offered by the MCP server");
    expect(names(bodies(model).at(-1) ?? { tools: [], messages: [] }).filter((name) => name.startsWith("mcp__"))).toEqual([
      "mcp__demo__a",
      "mcp__demo__c",
      "mcp__demo__b",
    ]);
    model.proxy.assertLegal({ toolsGrow: true });
  },
);

test.each(PROTOCOLS)("M-07, M-09: over %s a bad schema and long names cost no request", async (protocol) => {
  const server = "s".repeat(40);
  await using model = await fakeModel(inOrder(search("select:mcp__demo__good"), call("mcp__demo__good"), search("t"), { text: "Done." }));
  await using home = await testHome();
  await settings(home, { mcpServers: { demo: oddServer("schemas"), [server]: oddServer("long", "", { required: true }) } });
  const run = await home.roocode(["-p", ...BYPASS, "Go"], { env: model.env(protocol) });
  expect(run).toMatchObject({ code: 0, stdout: "Done.\n", stderr: expect.stringContaining('the tool "bad" is left out') });
  expect(model.proxy.refused).toEqual([]);
  expect(model.proxy.captures.at(-1)?.body).toContain("did good");
  for (const name of names(bodies(model).at(-1) ?? { tools: [], messages: [] })) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
});

test.each(PROTOCOLS)("M-11: over %s a picture goes to the model once, and to one that sees none as a file's name", async (protocol) => {
  for (const id of ["gpt-4o", "deepseek-chat"]) {
    await using model = await fakeModel(inOrder(call("mcp__demo__shot"), { text: "Done." }));
    await using home = await testHome();
    await settings(home, {
      model: `mine/${id}`,
      providers: [provider(model, protocol, { model: id })],
      mcpServers: { demo: oddServer("image") },
    });
    await home.roocode(["-p", ...BYPASS, "Go"]);
    const body = model.proxy.captures.at(-1)?.body ?? "";
    const data = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(200 * 1024 - 8, 7)]).toString("base64");
    expect(body.split(data)).toHaveLength(id === "gpt-4o" ? 2 : 1);
    if (id === "gpt-4o") continue;
    const path = /it was saved to (\S+?\.png)/.exec(body)?.[1] ?? "";
    expect((await readFile(path)).length).toBe(200 * 1024);
  }
});

test("M-15: the first request waits for no server but one that is required; late tools join and are told, a dead one is said once", async () => {
  await using model = await fakeModel(inOrder(call("Bash", { command: "sleep 2" }), { text: "Done." }));
  await using home = await testHome();
  const servers = {
    late: oddServer("late", 1500),
    never: oddServer("late", 60_000),
    quick: oddServer("banner", "", { required: true }),
    dead: { command: "no-such-program" },
  };
  await settings(home, { mcpServers: servers });
  const run = await home.roocode(["-p", ...BYPASS, "Go"], { env: model.env("anthropic") });
  const [first = "", second = ""] = model.proxy.captures.map(({ body }) => body);
  expect(first).toContain("mcp__quick__echo");
  expect(first).not.toContain("mcp__late__echo");
  expect(first).toMatch(/still starting: (late, never|late, never, dead)\./);
  expect(second).toContain("mcp__late__echo");
  expect(run.stderr.match(/"dead" is not there/g)).toHaveLength(1);
});

test("K-03: a hook that refuses holds for a tool of an MCP server, which then never runs", async () => {
  await using model = await fakeModel(inOrder(call("mcp__demo__echo", { text: "hi" }), { text: "Done." }));
  await using home = await testHome();
  const hook = {
    event: "pre_tool_use",
    if: 'tool matches "mcp__*"',
    action: { type: "command", command: "echo not this one >&2; exit 2" },
  };
  await settings(home, { mcpServers: { demo: stdioServer() }, hooks: [hook] });
  await home.roocode(["-p", ...BYPASS, "Go"], { env: model.env("anthropic") });
  const last = model.proxy.captures.at(-1)?.body ?? "";
  expect(last).toContain("not this one");
  expect(last).not.toContain("good: hi");
});

test("native: what was found is read where it was found; tools, system and messages before it stay byte for byte, in a session that goes on and a fork", async () => {
  await using model = await fakeModel((conversation) => {
    const said = conversation.steps.findLast((step) => step.type === "words" && step.from === "user");
    if (said?.type === "words" && /go on/.test(said.text)) return { text: "Went on." };
    return inOrder(search("says again"), call("mcp__demo__echo", { text: "hello" }), { text: "Done." })(conversation);
  });
  await using home = await testHome();
  const compat = { toolReferences: true };
  await settings(home, { model: "mine/any", providers: [provider(model, "anthropic", { compat })], mcpServers: { demo: stdioServer() } });
  await home.roocode(["-p", ...BYPASS, "Say hello"]);
  for (const more of [[], ["--fork-session"]]) await home.roocode(["-p", "-c", "go on", ...more]);
  const all = bodies(model);
  expect(all).toHaveLength(5);
  expect(plain(all[1]?.messages)).toContain('"content":[{"type":"tool_reference","tool_name":"mcp__demo__echo"}]');
  for (const body of all.slice(1)) {
    expect(body.tools.at(-1)).toMatchObject({ name: "mcp__demo__echo", defer_loading: true });
    expect(body.tools.at(-1)).not.toHaveProperty("cache_control");
    expect(plain(body.tools.filter((tool) => !tool.defer_loading))).toBe(plain(all[0]?.tools));
    expect(plain(body.messages).startsWith(plain(all[0]?.messages).slice(0, -1))).toBe(true);
  }
  expect(plain(all[2]?.messages)).toContain("good: hello");
  model.proxy.assertLegal({ toolsGrow: true });
});

test("proxy: the tools never change, the schema stands in the result of the search, and rules are asked under the tool's own name", async () => {
  const use = call("UseTool", { name: "mcp__demo__echo", args: { text: "hello" } });
  await using model = await fakeModel(inOrder(search("says again"), use, { text: "Done." }));
  await using home = await testHome();
  await settings(home, { toolLoading: "proxy", mcpServers: { demo: stdioServer() }, permissions: { allow: ["mcp__demo__echo"] } });
  const run = await home.roocode(["-p", "Say hello"], { env: model.env("openai") });
  expect(run).toEqual({ code: 0, stdout: "Done.\n", stderr: "" });
  const all = bodies(model);
  expect(new Set(all.map(({ tools }) => plain(tools))).size).toBe(1);
  expect(plain(all[1]?.messages)).toContain("What comes back.");
  expect(plain(all[2]?.messages)).toContain("good: hello");
  model.proxy.assertLegal();
});

test("mcp add writes a server down, mcp list and test find it, mcp remove takes it out; what a project brings waits to be accepted", async () => {
  await using home = await testHome();
  const { command, args } = stdioServer();
  const say = async (...words: string[]) => home.roocode(["mcp", ...words]);
  expect(await say("add", "demo", "--env", "A=${HOME}", "--", command, ...args)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("roocode mcp test demo"),
  });
  expect(await readFile(join(home.data, "config.yaml"), "utf8")).toContain("A: ${HOME}");
  expect(await say("test", "demo")).toMatchObject({ code: 0, stdout: expect.stringContaining("mcp__demo__echo") });
  expect(await say("add", "demo", "--", "other")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("mcp remove demo --scope user"),
  });
  expect(await say("add", "there", "-s", "project", "-t", "http", "https://example.test/mcp", "-H", "X: ${KEY}")).toMatchObject({
    code: 0,
  });
  expect(await say("add", "mine", "-s", "local", "-e", "A=b", "--", "server", "--flag")).toMatchObject({ code: 0 });
  expect(JSON.parse(await readFile(join(home.repo, ".mcp.json"), "utf8"))).toEqual({
    mcpServers: { there: { type: "http", url: "https://example.test/mcp", headers: { X: "${KEY}" } } },
  });
  const { servers, waiting } = JSON.parse((await say("list", "--json")).stdout);
  expect([servers, waiting].map((list: { name: string }[]) => list.map(({ name }) => name))).toEqual([["demo"], ["there", "mine"]]);
  expect(await say("test", "there")).toMatchObject({ code: 2, stderr: expect.stringContaining("is not accepted yet") });
  for (const name of ["demo", "there", "mine"]) expect(await say("remove", name)).toMatchObject({ code: 0 });
  expect((await say("remove", "demo")).stderr).toContain('There is no MCP server "demo"');
  for (const bad of [
    ["a b", "x"],
    ["x"],
    ["x", "--env", "A", "--", "y"],
    ["x", "--header", "a: b", "--", "y"],
    ["x", "--env", "A=b", "http://y"],
  ]) {
    const run = await say("add", ...bad);
    expect(run.code).toBe(2);
    expect(run.stderr.trim().split("\n")).toHaveLength(1);
  }
});
