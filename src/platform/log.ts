import { mkdirSync } from "node:fs";
import { join } from "node:path";

export type Log = { path: string; error(fields: Record<string, unknown>, text: string): void };

/** A log file of this process under `folder`. `mask` blanks keys and tokens out of every line. */
export async function openLog(folder: string, mask: (text: string) => string): Promise<Log> {
  const { default: pino } = await import("pino");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${new Date().toISOString().slice(0, 10)}-${process.pid}.log`);
  const destination = pino.destination({ dest: path, sync: true, mode: 0o600 });
  const masked = { write: (line: string) => destination.write(mask(line)) };
  const logger = pino({ base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime }, masked);
  return { path, error: (fields, text) => logger.error(fields, text) };
}
