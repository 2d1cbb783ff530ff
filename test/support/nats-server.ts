import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { describe } from "vitest";
import { tempFolder } from "./temp.ts";

const hasNats = spawnSync("nats-server", ["--version"], { stdio: "ignore" }).status === 0;
/** Where no server is installed its tests are left out, and counted as such. */
export const natsDescribe = describe.skipIf(!hasNats);

/** A NATS server with JetStream of the test's own, on loopback; `stop` and `start` again keep its store and its port. */
export async function natsServer(more: readonly string[] = []) {
  const folder = await tempFolder("roocode-nats");
  let child: ChildProcess | undefined;
  let port = -1;

  async function start(): Promise<void> {
    const args = ["-a", "127.0.0.1", "-p", String(port), "-js", "-sd", folder.path, ...more];
    const server = spawn("nats-server", args, { stdio: ["ignore", "ignore", "pipe"] });
    child = server;
    const lines = createInterface({ input: server.stderr });
    const said: string[] = [];
    for await (const line of lines) {
      said.push(line);
      const listens = /client connections on [\d.]+:(\d+)/.exec(line);
      if (listens) port = Number(listens[1]);
      if (line.includes("Server is ready")) {
        server.stderr.resume();
        return;
      }
    }
    throw new Error(`nats-server did not start: ${said.join("\n")}`);
  }

  async function stop(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }

  await start();
  return {
    get url() {
      return `nats://127.0.0.1:${port}`;
    },
    start,
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}
