import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { deserializeMessage, type JSONRPCMessage, serializeMessage, type Transport } from "@modelcontextprotocol/client";
import { stopTree } from "../../platform/process-tree.ts";
import { MAX_ANSWER_BYTES, tooMuch } from "./limited-fetch.ts";
import { LineBuffer } from "./line-buffer.ts";

/** How long a server may take to end by itself once its input is closed, and again after TERM. */
const GRACE_MS = 500;
/** What an ended process wrote is in the pipe by now; a grandchild that keeps it open is not waited for. */
const DRAIN_MS = 200;
const LAST_WORDS_MS = 1_000;
const STDERR_CHARACTERS = 8_000;

export type StdioServer = { command: string; args: readonly string[]; cwd: string; env: NodeJS.ProcessEnv };

/**
 * A server as a child process in a process group of its own: Ctrl+C in the terminal interrupts a run and must not reach it, and what it
 * starts ends with it. The SDK's own transport has neither.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  /** Why the process is gone, once it is. */
  exit: string | undefined;
  readonly #server: StdioServer;
  readonly #lines = new LineBuffer(MAX_ANSWER_BYTES);
  #child: ChildProcessWithoutNullStreams | undefined;
  #stderr = "";
  #hasAnswered = false;
  #isClosed = false;
  #closing: Promise<void> | undefined;

  constructor(server: StdioServer) {
    this.#server = server;
  }

  get stderr(): string {
    return this.#stderr;
  }

  async start(): Promise<void> {
    const { command, args, cwd, env } = this.#server;
    const child = spawn(command, args, { cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
    this.#child = child;
    child.on("error", (error) => this.onerror?.(error));
    child.stdin.on("error", (error) => this.onerror?.(error));
    child.stdout.on("data", (chunk: Buffer) => {
      if (!this.#closing) this.#read(chunk);
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = `${this.#stderr}${text}`.slice(-STDERR_CHARACTERS);
    });
    child.on("exit", (code, signal) => {
      this.exit ??= signal === null ? `exit code ${code}` : `signal ${signal}`;
      const closed = once(child, "close").catch(() => undefined);
      void Promise.race([closed, sleep(DRAIN_MS, undefined, { ref: false })]).then(() => this.#closed());
    });
    await once(child, "spawn");
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const child = this.#child;
    if (!child?.stdin.writable) throw new Error("The server's input is closed.");
    const { stdin } = child;
    const failure = await new Promise<Error | null | undefined>((resolve) => stdin.write(serializeMessage(message), resolve));
    if (!failure) return;
    // A broken pipe is mostly heard of before the end that broke it, which says more.
    await Promise.race([once(child, "close").catch(() => undefined), sleep(LAST_WORDS_MS, undefined, { ref: false })]);
    throw failure;
  }

  /** Closes its input, then stops it with all that it started. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#stop();
    return this.#closing;
  }

  async #stop(): Promise<void> {
    const child = this.#child;
    if (child?.pid !== undefined) {
      const isThere = child.exitCode === null && child.signalCode === null;
      // One that has not answered yet has nothing to put in order.
      const exited = isThere && this.#hasAnswered ? once(child, "exit").catch(() => undefined) : undefined;
      child.stdin.end();
      if (exited) await Promise.race([exited, sleep(GRACE_MS, undefined, { ref: false })]);
      await stopTree(child.pid, GRACE_MS);
      for (const stream of child.stdio) stream?.destroy();
    }
    this.#closed();
  }

  #read(chunk: Buffer): void {
    for (const line of this.#lines.take(chunk)) {
      try {
        const message = deserializeMessage(line);
        this.#hasAnswered = true;
        this.onmessage?.(message);
      } catch (error) {
        // A word for people, or JSON that is no message; the next line may be one.
        this.#report(error);
      }
    }
    if (!this.#lines.isOverfull) return;
    this.exit ??= tooMuch();
    this.#report(new Error(tooMuch()));
    void this.close();
  }

  #report(error: unknown): void {
    this.onerror?.(error instanceof Error ? error : new Error(String(error)));
  }

  #closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }
}
