import { fstatSync } from "node:fs";
import { UserError } from "../protocol/errors.ts";

/** `text` is "" where nothing is piped, and undefined where a pipe stayed silent for too long. */
type PipedInput = Disposable & { text: Promise<string | undefined> };

/**
 * All of standard input, unless it is a terminal or /dev/null. Programs that start others often leave a pipe open and say nothing:
 * with `firstByteMs` such a one is left alone. What has begun is read to its end.
 */
export function readPiped(firstByteMs?: number): PipedInput {
  if (!isPiped()) return { text: Promise.resolve(""), [Symbol.dispose]: () => undefined };
  const input = process.stdin.setEncoding("utf8");
  const text = new Promise<string | undefined>((resolve, reject) => {
    let whole = "";
    const timer = firstByteMs === undefined ? undefined : setTimeout(() => resolve(undefined), firstByteMs);
    input.on("data", (part: string) => {
      clearTimeout(timer);
      whole += part;
    });
    input.on("close", () => {
      clearTimeout(timer);
      resolve(whole);
    });
    input.on("error", (cause) => reject(new UserError(`Standard input can't be read: ${cause.message}.`, { cause })));
  });
  // Who fails before it is asked for has said why already.
  text.catch(() => undefined);
  return { text, [Symbol.dispose]: () => input.destroy() };
}

/** Something may come: a pipe, a socket or a file. A terminal and /dev/null are devices. */
export function isPiped(): boolean {
  return !fstatSync(0).isCharacterDevice();
}
