import { Readable, Writable } from "node:stream";
import type { AcpArguments } from "../acp/sessions.ts";
import { outliveOutput } from "../lost-output.ts";

/** `roocode acp`: an editor talks to it over standard input and output. Gives the exit code. */
export async function acpCommand(args: AcpArguments): Promise<number> {
  outliveOutput();
  // A library's word on standard output would be no message of the protocol.
  for (const method of ["log", "info", "debug"] as const) console[method] = console.error;
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop.abort());
  const { serveAcp } = await import("../acp/serve.ts");
  const input = Readable.toWeb(process.stdin);
  const output = Writable.toWeb(process.stdout);
  const code = await serveAcp(args, { input, output, note: (text) => process.stderr.write(`${text}\n`) }, stop.signal);
  process.stdin.destroy();
  return code;
}
