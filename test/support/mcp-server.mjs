// An MCP server of few lines, with the faults that real ones have. `node mcp-server.mjs [fault]`, or `http` for streamable HTTP.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const [kind = "good", extra = ""] = process.argv.slice(2);
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const anything = { type: "object" };
const echoSchema = {
  type: "object",
  properties: { text: { $ref: "#/$defs/Text" } },
  required: ["text"],
  $defs: { Text: { type: "string", description: "What comes back." } },
};
const TOOLS = [
  { name: "echo", description: "Says it again.", inputSchema: echoSchema },
  { name: "environment", description: "The value of a variable.", inputSchema: anything },
  { name: "picture", description: "A picture.", inputSchema: anything },
  { name: "refuse", description: "Always refuses.", inputSchema: anything },
  { name: "hang", description: "Never answers.", inputSchema: anything },
  { name: "die", description: "Ends the server.", inputSchema: anything },
  {
    name: "structured",
    description: "Breaks its own output schema.",
    inputSchema: anything,
    outputSchema: { ...anything, required: ["x"] },
  },
];
const LONG = "a_name_that_goes_on_and_on_until_it_is_longer_than_any_model_would_take";
const LONG_TOOLS = ["one", "two", "get.it", "get_it"].map((end) => ({
  name: end.startsWith("get") ? end : `${LONG}_${end}`,
  description: end,
  inputSchema: anything,
}));

const FAULTY_TOOLS = [{ name: "bare" }, { name: "list", inputSchema: { type: "array" } }, { name: 5, inputSchema: anything }];

function call({ name, arguments: input }) {
  const text = (words) => ({ content: [{ type: "text", text: words }] });
  switch (name) {
    case "echo":
      return text(`${kind}: ${input.text}`);
    case "environment":
      return text(String(process.env[input.name]));
    case "picture":
      return { content: [{ type: "image", mimeType: "image/png", data: PIXEL }, ...text("One pixel.").content] };
    case "refuse":
      return { ...text("That can't be done."), isError: true };
    case "structured":
      return { content: [], structuredContent: { y: 1 } };
    case "die":
      process.stderr.write("out of memory\n");
      process.exit(3);
      break;
    default:
      return text(name);
  }
}

/** `scripted FILE`: tools and results as the file says, and another list after the first call. */
const script = kind === "scripted" ? JSON.parse(readFileSync(extra, "utf8")) : undefined;
const scripted = { hasChanged: false };
function scriptedTools() {
  const tools = scripted.hasChanged ? script.afterListChanged : script.first;
  return tools.map((tool) => ({ inputSchema: anything, ...tool }));
}
function scriptedCall({ name }) {
  scripted.hasChanged = true;
  return { content: [{ type: "text", text: script.resultOf[name] ?? "" }] };
}

/** The answer to a request; undefined for one that gets none. */
function answer({ id, method, params }) {
  const result = (value) => ({ jsonrpc: "2.0", id, result: value });
  if (method === "initialize")
    return result({
      protocolVersion: "2025-06-18",
      capabilities: kind === "toolless" ? {} : { tools: { listChanged: script !== undefined } },
      serverInfo: { name: "demo-server", version: "1.2.3" },
    });
  if (script && method === "tools/list") return result({ tools: scriptedTools() });
  if (script && method === "tools/call") return result(scriptedCall(params));
  if (method === "tools/list" && kind === "faulty")
    return result(params?.cursor ? { tools: TOOLS } : { tools: FAULTY_TOOLS, nextCursor: "second" });
  if (method === "tools/list") return result({ tools: kind === "long" ? LONG_TOOLS : TOOLS });
  if (method === "tools/call") return params.name === "hang" ? undefined : result(call(params));
  return { jsonrpc: "2.0", id, error: { code: -32601, message: `no method ${method}` } };
}

function serveStdio() {
  const say = (line) => process.stdout.write(`${line}\n`);
  process.stderr.write("demo-server starts\n");
  if (kind === "dies") {
    process.stderr.write("no licence found\n");
    process.exit(3);
  }
  if (kind === "garbage") setInterval(() => say("\u0000\u0001 {not json] \ufffd"), 1);
  if (kind === "stubborn") {
    process.on("SIGTERM", () => undefined);
    const child = spawn("sleep", ["1000"], { stdio: "ignore" });
    process.stderr.write(`child ${child.pid} of ${process.pid}\n`);
    setInterval(() => undefined, 1000);
  }
  createInterface({ input: process.stdin }).on("line", (line) => {
    const message = JSON.parse(line);
    if (message.method === "notifications/cancelled") process.stderr.write(`cancelled ${message.params.requestId}\n`);
    if (message.id === undefined || kind === "slow" || kind === "garbage") return;
    if (kind === "chatty") say('Listening on everything.\n{"log": "this is no message"}');
    const reply = answer(message);
    const changed = script && message.method === "tools/call" ? '\n{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}' : "";
    if (reply) say(`${JSON.stringify(reply)}${changed}`);
  });
}

function serveHttp() {
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return response.writeHead(405).end();
    if (request.headers["x-token"] !== extra && extra !== "") return response.writeHead(403).end("wrong token");
    let body = "";
    for await (const chunk of request) body += chunk;
    const message = JSON.parse(body);
    if (message.id === undefined) return response.writeHead(202).end();
    const reply = answer(message);
    if (reply) response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(reply));
  });
  server.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${server.address().port}/mcp\n`));
}

if (kind === "http") serveHttp();
else serveStdio();
