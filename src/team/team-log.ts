import { open } from "node:fs/promises";
import { join } from "node:path";
import { appendLine, isErrno } from "../platform/files.ts";
import { watchFile } from "../platform/watch.ts";
import type { TeamEvent } from "../protocol/team.ts";

/** Deltas are for the screen; what they add up to comes as `message` and `tool_result`. */
const NOT_LOGGED = new Set(["stream_text", "stream_thinking", "tool_progress"]);

/** A team's log.jsonl, to which every member appends. In order for one writer; a log that can't be written never stops the work. */
export class TeamLog {
  readonly #path: string;
  readonly #onProblem: (text: string) => void;
  #queue: Promise<void> = Promise.resolve();
  #hasFailed = false;

  constructor(teamFolder: string, onProblem: (text: string) => void) {
    this.#path = logPath(teamFolder);
    this.#onProblem = onProblem;
  }

  add(agent: string, event: TeamEvent["event"]): void {
    if (NOT_LOGGED.has(event.type)) return;
    const entry: TeamEvent = { at: new Date().toISOString(), agent, event };
    this.#queue = this.#queue
      .then(() => appendLine(this.#path, entry))
      .catch((error: unknown) => {
        if (!this.#hasFailed) this.#onProblem(`The team's log can't be written: ${error instanceof Error ? error.message : String(error)}`);
        this.#hasFailed = true;
      });
  }

  /** Resolves when all that was added is in the file. */
  flush(): Promise<void> {
    return this.#queue;
  }
}

export function logPath(teamFolder: string): string {
  return join(teamFolder, "log.jsonl");
}

/** Whole lines from `position` on; a line that is still being written waits for the next read. */
export class LogReader {
  readonly #path: string;
  #position: number;
  #rest: Buffer<ArrayBuffer> = Buffer.alloc(0);

  constructor(path: string, position = 0) {
    this.#path = path;
    this.#position = position;
  }

  async read(): Promise<string[]> {
    let handle: Awaited<ReturnType<typeof open>>;
    try {
      handle = await open(this.#path, "r");
    } catch (error) {
      if (isErrno(error, "ENOENT")) return [];
      throw error;
    }
    try {
      const chunks = [this.#rest];
      for await (const chunk of handle.createReadStream({ start: this.#position, autoClose: false })) {
        const bytes: Buffer<ArrayBuffer> = chunk;
        this.#position += bytes.length;
        chunks.push(bytes);
      }
      const all = Buffer.concat(chunks);
      const end = all.lastIndexOf(0x0a) + 1;
      this.#rest = Buffer.from(all.subarray(end));
      return all.subarray(0, end).toString("utf8").split("\n").slice(0, -1);
    } finally {
      await handle.close();
    }
  }
}

/** Lines as they come, by file events. Ends with the signal. */
export async function followLog(path: string, position: number, onLine: (line: string) => void, signal: AbortSignal): Promise<void> {
  const reader = new LogReader(path, position);
  let wake: () => void = () => undefined;
  let isDirty = true;
  const watcher = await watchFile(path, () => {
    isDirty = true;
    wake();
  });
  signal.addEventListener("abort", () => wake(), { once: true });
  try {
    while (!signal.aborted) {
      isDirty = false;
      for (const line of await reader.read()) onLine(line);
      if (isDirty || signal.aborted) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    await watcher.close();
  }
}

/** Undefined for a line that a crash cut off. */
export function parseLogLine(line: string): TeamEvent | undefined {
  try {
    // Written by members of the team in this shape; nothing but a screen reads it.
    const entry: TeamEvent = JSON.parse(line);
    return entry;
  } catch {
    return undefined;
  }
}
