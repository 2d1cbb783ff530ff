import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { definitionOf, requireShape } from "./acp-schema.ts";
import { eventually } from "./eventually.ts";
import { childEnvironment, type TestHome } from "./home.ts";

const BIN = decodeURIComponent(new URL("../../bin/roocode.js", import.meta.url).pathname);

// biome-ignore lint/suspicious/noExplicitAny: messages of every kind, looked at by tests; the schema has checked them.
export type Json = any;
export type Answer = { result?: Json; error?: { code: number; message: string; data?: Json } };
/** Gives the option to choose, or undefined for an answer that never comes. */
type Chooser = (request: Json) => string | { cancelled: true } | undefined;

/** A client that knows nothing but lines of JSON-RPC. Every line that it gets is checked against the protocol's schema. */
export class AcpClient implements AsyncDisposable {
  readonly child: ChildProcessWithoutNullStreams;
  readonly updates: Json[] = [];
  readonly questions: Json[] = [];
  /** Requests of the agent that were not about permissions. */
  readonly asked: Json[] = [];
  readonly invalid: string[] = [];
  stderr = "";
  choose: Chooser = () => undefined;
  fill: (request: Json) => Json = () => ({ action: "cancel" });
  #next = 1;
  readonly #waiting = new Map<unknown, { method: string; resolve: (answer: Answer) => void }>();
  /** Answers to what was no request. */
  readonly strays: Answer[] = [];

  constructor(home: Pick<TestHome, "home" | "repo">, env: Record<string, string>, args: readonly string[] = []) {
    this.child = spawn(process.execPath, [BIN, "acp", ...args], { cwd: home.repo, env: { ...childEnvironment(home.home), ...env } });
    this.child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    this.child.stdin.on("error", () => undefined);
    createInterface({ input: this.child.stdout }).on("line", (line) => this.#take(line));
  }

  raw(line: string): void {
    this.child.stdin.write(`${line}\n`);
  }

  notify(method: string, params: object): void {
    this.raw(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  request(method: string, params: object): Promise<Answer> {
    const id = this.#next++;
    return new Promise((resolve) => {
      this.#waiting.set(id, { method, resolve });
      this.raw(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  /** Initialized, with one session in this folder; gives its id. */
  async begin(cwd: string, more: { mcpServers?: object[]; clientCapabilities?: object } = {}): Promise<string> {
    await this.request("initialize", { protocolVersion: 1, clientCapabilities: more.clientCapabilities ?? {} });
    const { result, error } = await this.request("session/new", { cwd, mcpServers: more.mcpServers ?? [] });
    if (!result) throw new Error(`No session: ${JSON.stringify(error)}`);
    return result.sessionId;
  }

  prompt(sessionId: string, text: string): Promise<Answer> {
    return this.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  /** The agent's words, or the updates of one kind. */
  get text(): string {
    return this.of("agent_message_chunk")
      .map(({ content }) => content.text)
      .join("");
  }

  of(kind: string): Json[] {
    return this.updates.map(({ update }) => update).filter(({ sessionUpdate }) => sessionUpdate === kind);
  }

  async end(): Promise<number | null> {
    this.child.stdin.end();
    if (this.child.exitCode === null) await once(this.child, "exit");
    return this.child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      this.child.stdin.end();
      await eventually(() => this.child.exitCode !== null || this.child.signalCode !== null, 10_000).catch(() =>
        this.child.kill("SIGKILL"),
      );
    }
    if (this.invalid.length > 0) throw new Error(this.invalid.join("\n"));
  }

  #take(line: string): void {
    try {
      this.#handle(JSON.parse(line));
    } catch (error) {
      this.invalid.push(`${String(error)}\n${line.slice(0, 500)}`);
      this.child.kill();
    }
  }

  #handle(message: Json): void {
    if (message.jsonrpc !== "2.0") throw new Error("no JSON-RPC 2.0");
    if (message.method === undefined) {
      if (message.error !== undefined) requireShape("Error", message.error);
      const waiting = this.#waiting.get(message.id);
      if (!waiting) this.strays.push(message);
      else if (message.error === undefined) requireShape(definitionOf(waiting.method, "result"), message.result);
      this.#waiting.delete(message.id);
      waiting?.resolve(message);
      return;
    }
    requireShape(definitionOf(message.method, "params"), message.params);
    if (message.method === "session/update") this.updates.push(message.params);
    else if (message.method === "session/request_permission") {
      this.questions.push(message.params);
      const chosen = this.choose(message.params);
      if (chosen === undefined) return;
      const outcome = typeof chosen === "string" ? { outcome: "selected", optionId: chosen } : { outcome: "cancelled" };
      this.raw(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: { outcome } }));
    } else {
      this.asked.push(message);
      this.raw(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: this.fill(message.params) }));
    }
  }
}
