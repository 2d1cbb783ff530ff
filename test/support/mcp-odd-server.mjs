// MCP servers over stdio with the oddities that real ones have: `node mcp-odd-server.mjs KIND [argument]`.
import { existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [kind = "", extra = ""] = process.argv.slice(2);
const anything = { type: "object", properties: {} };
const tool = (name, more = {}) => ({ name, description: `Does ${name}.`, inputSchema: anything, ...more });
const text = (words) => ({ content: [{ type: "text", text: words }] });
const say = (message) => process.stdout.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
const notify = (method, params) => say({ jsonrpc: "2.0", method, ...(params ? { params } : {}) });

/** A picture of so many bytes that begins as a PNG does. */
const picture = (bytes) => Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(bytes - 8, 7)]).toString("base64");

let calls = 0;
const withOwn = (schema) => ({ inputSchema: { type: "object", properties: schema } });
const KINDS = {
  banner: { tools: () => [tool("echo")], call: () => text("heard") },
  /** Ends inside the first call of all its lives. */
  once: {
    tools: () => [tool("look", { annotations: { readOnlyHint: true } }), tool("act")],
    call() {
      if (existsSync(extra)) return text("worked");
      writeFileSync(extra, "");
      process.exit(3);
    },
  },
  /** After the first call `a` is gone, `b` is new, `c` takes something else. */
  changing: {
    tools: () =>
      calls === 0
        ? [tool("a"), tool("c", withOwn({ old: { type: "string" } }))]
        : [tool("b"), tool("c", withOwn({ fresh: { type: "number" } }))],
    call: ({ name }) => text(`did ${name}`),
    after: () => calls === 1 && notify("notifications/tools/list_changed"),
  },
  schemas: {
    tools: () => [
      tool("good"),
      tool("bad", { inputSchema: { type: "string" } }),
      tool("either", { inputSchema: { anyOf: [anything, withOwn({ x: {} }).inputSchema] } }),
    ],
    call: ({ name }) => text(`did ${name}`),
  },
  long: {
    tools: () => [tool("t".repeat(50)), tool(`${"t".repeat(49)}u`), tool("größe/messen"), tool("größe messen")],
    call: ({ name }) => text(`did ${name}`),
  },
  image: {
    tools: () => [tool("shot")],
    call() {
      const data = picture(200 * 1024);
      return { content: [{ type: "image", mimeType: "image/png", data }], structuredContent: { image: data } };
    },
  },
  pages: {
    tools: (cursor = "1") => ({ tools: [tool(`page${cursor}`)], ...(cursor === "3" ? {} : { nextCursor: String(Number(cursor) + 1) }) }),
  },
  circle: { tools: (cursor = "none") => ({ tools: [tool(`from_${cursor}`)], nextCursor: "same" }) },
  /** A progress report each `extra` milliseconds, ten of them, then the answer. */
  progress: {
    tools: () => [tool("work"), tool("hang")],
    call({ name, _meta }, answer) {
      if (name === "hang") return undefined;
      let sent = 0;
      const timer = setInterval(() => {
        sent += 1;
        notify("notifications/progress", { progressToken: _meta.progressToken, progress: sent, total: 10 });
        if (sent < 10) return;
        clearInterval(timer);
        answer(text("done at last"));
      }, Number(extra));
      return undefined;
    },
  },
  late: { delay: () => Number(extra), tools: () => [tool("echo")], call: () => text("heard") },
  crowd: {
    tools: () => Array.from({ length: Number(extra) }, (_, index) => tool(`tool_${index}`, { description: "x".repeat(300) })),
    call: ({ name }) => text(`did ${name}`),
  },
  huge: { tools: () => [tool("big"), tool("small")], call: ({ name }) => text(name === "small" ? "small" : "y".repeat(50 * 1024 * 1024)) },
  /** Answers ids that nobody asked, then the right one; and one that it answers wrongly for ever. */
  strangers: {
    tools: () => [tool("echo"), tool("lost")],
    call({ name }) {
      say({ jsonrpc: "2.0", id: 99_999, result: text("not yours") });
      say({ jsonrpc: "2.0", id: "nobody", result: text("nor this") });
      return name === "echo" ? text("yours") : undefined;
    },
  },
  flood: {
    tools: () => [tool("echo"), tool(`list_${++calls}`)],
    call: () => text("heard"),
    began: () => setInterval(() => notify("notifications/tools/list_changed"), 1),
  },
  structured: {
    tools: () => [tool("both"), tool("only")],
    call: ({ name }) => ({ content: name === "both" ? [{ type: "text", text: "in words" }] : [], structuredContent: { n: 1 } }),
  },
  asks: {
    tools: () => [tool("order")],
    call(_, answer) {
      const requestedSchema = {
        type: "object",
        properties: { size: { type: "string", enum: ["small", "large"] }, count: { type: "integer", default: 2 } },
        required: ["size"],
      };
      say({ jsonrpc: "2.0", id: "q1", method: "elicitation/create", params: { message: "Which one?", requestedSchema } });
      answers.set("q1", (result) => answer(text(`answered ${JSON.stringify(result)}`)));
      return undefined;
    },
  },
};

const answers = new Map();
const own = KINDS[kind];

function reply({ id, method, params }) {
  const answer = (result) => say({ jsonrpc: "2.0", id, result });
  switch (method) {
    case "initialize":
      return {
        protocolVersion: "2025-06-18",
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: kind, version: "1" },
      };
    case "tools/list": {
      const listed = own.tools(params?.cursor);
      return Array.isArray(listed) ? { tools: listed } : listed;
    }
    case "tools/call": {
      const result = own.call(params, answer);
      calls += 1;
      return result;
    }
    default:
      return undefined;
  }
}

if (kind === "banner") say('Server v1 ready\n{"level":"info"}');
createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.method === "notifications/cancelled") process.stderr.write(`cancelled ${message.params.requestId}\n`);
  if (message.method === "notifications/initialized") own.began?.();
  if (message.method === undefined) return answers.get(message.id)?.(message.result);
  if (message.id === undefined) return;
  const act = () => {
    if (kind === "banner") say('[info] at work\n{"level":"info"}');
    const result = reply(message);
    if (result !== undefined) say({ jsonrpc: "2.0", id: message.id, result });
    if (message.method === "tools/call") own.after?.();
  };
  if (message.method === "initialize" && own.delay) setTimeout(act, own.delay());
  else act();
});
