import { writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exists } from "../../../src/platform/files.ts";
import { processesWithEnvironment } from "../../../src/platform/process-tree.ts";
import type { HookAgent, HookEvent, RunHookAgent } from "../../../src/protocol/hook.ts";
import { runningHooks } from "../../../src/tools/hooks/fire.ts";
import { readHooks } from "../../../src/tools/hooks/schema.ts";
import { eventually } from "../../support/eventually.ts";
import { tempFolder } from "../../support/temp.ts";

const CALL = { event: "pre_tool_use", tool: "Bash", input: { command: "ls" }, callId: "c" } as const satisfies HookEvent;
const signal = new AbortController().signal;

/** The hooks of these entries, as a settings file would have them, and what they told the person. */
async function opened(entries: readonly object[], { env = {}, ...more }: { env?: NodeJS.ProcessEnv; runAgent?: RunHookAgent } = {}) {
  const folder = await tempFolder();
  const { hooks, problems } = readHooks(JSON.stringify({ hooks: entries }), "config.yaml", "user");
  expect(problems).toEqual([]);
  const notes: string[] = [];
  const running = runningHooks(hooks, {
    ground: { home: folder.path, projectRoot: folder.path, root: folder.path },
    env: { PATH: process.env.PATH, HOME: folder.path, ...env },
    note: (text) => notes.push(text.replace(/^Hook \w+ \(config\.yaml:\d+\): /, "")),
    maskSecrets: (text) => text,
    runAgent: () => more.runAgent,
  });
  const agent: HookAgent = { agent: "main", agentType: "main", session: "s", cwd: () => folder.path };
  return {
    notes,
    path: (name: string) => join(folder.path, name),
    fire: (event: HookEvent, who: Partial<HookAgent> = {}) => running.of({ ...agent, ...who })(event, signal),
    close: () => running[Symbol.asyncDispose](),
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Answers each path by its entry; keeps what was asked. */
async function server(replies: Readonly<Record<string, { status?: number; headers?: Record<string, string>; body?: string }>>) {
  const asked: { path: string; headers: IncomingMessage["headers"]; body: unknown }[] = [];
  const listening = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    asked.push({ path: request.url ?? "", headers: request.headers, body: JSON.parse(body) });
    const reply = replies[request.url ?? ""] ?? {};
    response.writeHead(reply.status ?? 200, reply.headers ?? {}).end(reply.body ?? "");
  });
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  const address = listening.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    asked,
    url: (path: string) => `http://127.0.0.1:${port}${path}`,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => listening.close(() => resolve())),
  };
}

test("http: the event is posted with headers from the environment, and the reply's body is the answer", async () => {
  await using site = await server({ "/no": { body: '{"decision": "deny", "reason": "not that"}' } });
  await using hooks = await opened(
    [{ event: "pre_tool_use", action: { type: "http", url: site.url("/no"), headers: { authorization: "Bearer ${TOKEN}" } } }],
    { env: { TOKEN: "t0" } },
  );
  expect(await hooks.fire(CALL)).toEqual({ decision: "deny", reason: "not that" });
  expect(site.asked).toMatchObject([
    {
      path: "/no",
      headers: { authorization: "Bearer t0", "content-type": "application/json" },
      body: { event: "pre_tool_use", tool: "Bash", input: { command: "ls" }, hook_event_name: "PreToolUse" },
    },
  ]);
  expect(hooks.notes).toEqual([]);
});

test("http: an error, a redirect, a missing variable, a flood and a server that is not there are told and are no answer", async () => {
  await using site = await server({
    "/500": { status: 500, body: '{"decision": "deny"}' },
    "/away": { status: 307, headers: { location: "/elsewhere" } },
    "/flood": { body: "x".repeat(1_000_001) },
  });
  const gone = await server({});
  await gone[Symbol.asyncDispose]();
  const urls = [site.url("/500"), site.url("/away"), site.url("/flood"), gone.url("/")];
  await using hooks = await opened([
    ...urls.map((url) => ({ event: "pre_tool_use", action: { type: "http", url } })),
    { event: "pre_tool_use", action: { type: "http", url: site.url("/never"), headers: { x: "${NOT_SET}" } } },
  ]);
  expect(await hooks.fire(CALL)).toEqual({});
  expect(hooks.notes).toEqual([
    "the server answered 500. It counts as no answer.",
    "the server answered 307. It counts as no answer.",
    "it failed: its reply is larger than 1000000 bytes. It counts as no answer.",
    expect.stringContaining("ECONNREFUSED"),
    "it failed: the variable NOT_SET of its headers is not set. It counts as no answer.",
  ]);
  expect(site.asked.map(({ path }) => path)).toEqual(["/500", "/away", "/flood"]);
});

test("http: a server that does not answer is given up at the time limit", async () => {
  const listening = createServer(() => undefined);
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  const address = listening.address();
  const url = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}/`;
  await using hooks = await opened([{ event: "pre_tool_use", timeout: 0.2, action: { type: "http", url } }]);
  expect(await hooks.fire(CALL)).toEqual({});
  expect(hooks.notes).toEqual(["it was stopped after 0.2 s. It counts as no answer."]);
  listening.closeAllConnections();
  listening.close();
});

test("async: nobody waits for the hook, and it decides nothing", async () => {
  await using hooks = await opened([
    {
      event: "pre_tool_use",
      action: { type: "command", async: true, command: "until [ -e go ]; do sleep 0.02; done; cat > came; echo no >&2; exit 2" },
    },
  ]);
  expect(await hooks.fire(CALL)).toEqual({});
  expect(await exists(hooks.path("came"))).toBe(false);
  await writeFile(hooks.path("go"), "");
  await eventually(() => exists(hooks.path("came")));
});

test("async: what still runs a moment after the session has ended is stopped with all that it started", async () => {
  const mark = `async-${process.pid}-${performance.now()}`;
  const command = `export HOOK_TEST=${mark}; setsid sleep 1000 & touch began; sleep 1000`;
  await using hooks = await opened([{ event: "stop", async: true, action: { type: "command", command } }]);
  await hooks.fire({ event: "stop", text: "", isAgain: false });
  await eventually(() => exists(hooks.path("began")));
  await hooks.close();
  expect(processesWithEnvironment("HOOK_TEST", mark)).toEqual([]);
});

test("agent: a sub-agent reads prompt and event, its last words are the answer, and what it does starts no further one", async () => {
  const asked: string[] = [];
  const words = ["Looks fine.", '{"decision": "block", "reason": "two tests are red"}'];
  const runAgent: RunHookAgent = async ({ prompt, description }) => {
    asked.push(`${description}: ${prompt}`);
    return words.shift() ?? "";
  };
  await using hooks = await opened([{ event: "stop", action: { type: "agent", prompt: "Look at $AGENT's work" } }], { runAgent });
  const stop = { event: "stop", text: "Done.", isAgain: false } as const;
  expect((await hooks.fire(stop)).context).toContain("Looks fine.");
  expect(await hooks.fire(stop)).toEqual({ block: "two tests are red" });
  expect(asked[0]).toMatch(/^hook of stop: Look at main's work\n\nThe event:\n\{"event":"stop","text":"Done\."/);
  expect(await hooks.fire(stop, { isOfHook: true })).toEqual({});
  expect(asked).toHaveLength(2);
  expect(hooks.notes).toEqual([]);
});

test("of several answers a refusal and the strictest decision count, in the order of the hooks, and hooks of one event run beside each other", async () => {
  const command = (text: string) => ({ event: "permission_request", action: { type: "command", command: text } });
  await using hooks = await opened([
    command(`until [ -e second ]; do sleep 0.02; done; echo '{"decision": "allow"}'`),
    command(`touch second; echo '{"decision": "ask", "reason": "look"}'`),
    command(`echo '{"decision": "deny", "reason": "first"}'`),
    command(`echo '{"decision": "deny", "reason": "later"}'`),
  ]);
  const asked = { event: "permission_request", tool: "Bash", subject: "ls", reason: "the mode asks", isSticky: false } as const;
  expect(await hooks.fire(asked)).toEqual({ decision: "deny", reason: "first" });
});
