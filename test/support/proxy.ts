import { appendFile, readFile } from "node:fs/promises";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { checkBody, checkText, type Violation } from "../fixtures/tools/check-history.mjs";
import sessionMap from "../fixtures/tools/session-map.mjs";

/** One request as it came over the wire. */
export type Capture = { path: string; body: string };
/** Raw bytes instead of an answer of the model behind. */
export type RawPlay = {
  status?: number;
  headers?: Record<string, string>;
  body: string | Uint8Array;
  /** The answer stops there and never ends. */
  isStalled?: boolean;
};

export type RecordingProxy = AsyncDisposable & {
  anthropicUrl: string;
  openaiUrl: string;
  captures: Capture[];
  /** What the real API would not have taken; each was answered with 400. */
  refused: string[];
  /** Every body is legal, and each conversation only ever grew; its tools too only where that was to be. */
  assertLegal(options?: { toolsGrow?: boolean }): void;
};

type ProxyOptions = {
  /** Where the model is: its URL without a path. */
  target: string;
  /** Each body is appended here, one JSON line a request. */
  captureFile: string;
  /** Answers some requests with raw bytes, in the model's stead. */
  play?: ((capture: Capture, number: number) => RawPlay | undefined) | undefined;
};

/** Stands before a model: keeps the raw bodies and refuses, in the vendor's words, what the vendor refuses. */
export async function recordingProxy({ target, captureFile, play }: ProxyOptions): Promise<RecordingProxy> {
  const captures: Capture[] = [];
  const refused: string[] = [];
  const sockets = new Set<Socket>();

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const capture = { path: request.url ?? "", body: await textOf(request) };
    captures.push(capture);
    await appendFile(captureFile, `${JSON.stringify(capture)}\n`);
    const problem = problemOf(capture.body);
    if (problem) {
      refused.push(`${problem.rule} at ${problem.at}: ${problem.msg}`);
      response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify(refusal(capture.path, problem)));
      return;
    }
    const raw = play?.(capture, captures.length);
    if (raw) {
      response.writeHead(raw.status ?? 200, { "content-type": "text/event-stream", ...raw.headers });
      if (raw.isStalled) response.write(raw.body);
      else response.end(raw.body);
    } else forward(target, request, capture.body, response);
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A TCP server's address is never a string.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    anthropicUrl: url,
    openaiUrl: `${url}/v1`,
    captures,
    refused,
    assertLegal({ toolsGrow = false } = {}) {
      const { r } = checkText(captures.map((capture) => JSON.stringify(capture)).join("\n"), { prefix: true });
      const faults = r.list.filter(({ rule, msg }) => !(toolsGrow && rule === "unstable-prefix" && /^\d+ tool\(s\) appended/.test(msg)));
      failOn([...refused, ...faults.map(sentence)]);
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A session file, line by line, is a history that an API would take. */
export async function assertSessionLegal(path: string): Promise<void> {
  const { kind, r } = checkText(await readFile(path, "utf8"), { map: sessionMap, openOk: true });
  if (kind === null) throw new Error(`${path} is no session.`);
  failOn(r.list.map(sentence));
}

function failOn(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(`Illegal history:\n${problems.join("\n")}`);
}

function sentence({ level, rule, at, msg }: Violation): string {
  return `${level} ${rule} at ${at}: ${msg}`;
}

function problemOf(body: string): Violation | undefined {
  try {
    return checkBody(JSON.parse(body), { request: true })?.list.find((one) => one.level === "error");
  } catch {
    return { rule: "bad-json", level: "error", at: "body", msg: "not JSON" };
  }
}

/** The words in which the vendors refuse the commonest faults; others by the rule's name. */
function refusal(path: string, { rule, at, msg }: Violation): unknown {
  const isAnthropic = path.includes("/messages");
  const id = msg.split(" ", 1)[0] ?? "";
  const place = at.replace(/\[(\d+)\]/g, ".$1");
  const words: Record<string, [anthropic: string, openai: string]> = {
    "unpaired-call": [
      `${place}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${id}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
      `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${id}`,
    ],
    "orphan-result": [
      `${place}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id} Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    ],
    "empty-content": ["messages: text content blocks must be non-empty", `Invalid value for '${at}.content': expected a non-empty string.`],
  };
  const message = words[rule]?.[isAnthropic ? 0 : 1] ?? `${place}: ${rule}: ${msg}`;
  if (isAnthropic) return { type: "error", error: { type: "invalid_request_error", message } };
  return { error: { message, type: "invalid_request_error", param: at, code: null } };
}

function forward(target: string, request: IncomingMessage, body: string, response: ServerResponse): void {
  const { host: _, "content-length": __, ...headers } = request.headers;
  const onward = httpRequest(`${target}${request.url}`, { method: request.method ?? "POST", headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  onward.end(body);
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}
