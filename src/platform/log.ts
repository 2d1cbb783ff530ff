import { mkdirSync } from "node:fs";
import { join } from "node:path";

export type Log = { info(fields: Record<string, unknown>, text: string): void; error(fields: Record<string, unknown>, text: string): void };

/** A log file of this process under `folder`. `mask` blanks keys and tokens out of every line. */
export async function openLog(folder: string, mask: (text: string) => string): Promise<Log> {
  const { default: pino } = await import("pino");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const day = new Date().toISOString().slice(0, 10);
  const destination = pino.destination({ dest: join(folder, `${day}-${process.pid}.log`), mkdir: true, sync: true, mode: 0o600 });
  const masked = { write: (line: string) => destination.write(mask(line)) };
  const logger = pino({ base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime }, masked);
  return {
    info: (fields, text) => logger.info(fields, text),
    error: (fields, text) => logger.error(fields, text),
  };
}
