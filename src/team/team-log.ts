import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { appendLine, isErrno } from "../platform/files.ts";
import { watchFile } from "../platform/watch.ts";
import { UserError } from "../protocol/errors.ts";
import { TASK_STATUSES, type TeamEvent } from "../protocol/team.ts";

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

  /** Throws a UserError for what is no file. */
  async read(): Promise<string[]> {
    let handle: Awaited<ReturnType<typeof open>>;
    try {
      // O_NONBLOCK: opening a FIFO must not wait for its other end.
      handle = await open(this.#path, constants.O_RDONLY | constants.O_NONBLOCK);
    } catch (error) {
      if (isErrno(error, "ENOENT")) return [];
      if (isErrno(error, "ELOOP", "ENXIO", "EACCES")) throw noLog(this.#path);
      throw error;
    }
    try {
      if (!(await handle.stat()).isFile()) throw noLog(this.#path);
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

function noLog(path: string): UserError {
  return new UserError(`${path} is no file that can be read. Move it away: the next event begins a new one.`);
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

const words = z.string();
const texts = z.array(words);
const named = z.looseObject({ name: words });
const content = z.array(z.looseObject({ type: words }));
const count = z.number();
const took = { usage: z.looseObject({ input: count, output: count, cacheRead: count, cacheWrite: count }), cost: count.optional() };
/** By an event's type, what readers of the log look into; an event of a type that is not here needs nothing but its type. */
const SHAPES = new Map<string, z.ZodType>(
  Object.entries({
    message: z.union([
      z.looseObject({ from: words, to: words, summary: words }),
      z.looseObject({ message: z.looseObject({ role: words, content, model: words.optional() }), ...took, usage: took.usage.optional() }),
    ]),
    tool_use: z.looseObject({ call: z.looseObject({ name: words, input: z.record(words, z.unknown()) }) }),
    tool_result: z.looseObject({ result: z.looseObject({ content }) }),
    permission: z.looseObject({
      request: z.looseObject({ tool: words, access: z.looseObject({ subject: words }) }),
      decision: z.looseObject({ decision: words, reason: words }),
    }),
    spent: z.looseObject(took),
    compacted: z.looseObject(took),
    ready: named,
    joined: named,
    dead: named.extend({ how: words }),
    task: z.looseObject({ id: words, status: z.enum(TASK_STATUSES), owner: words.optional(), subject: words }),
    merge: named.extend({
      commit: words.optional(),
      conflict: texts.optional(),
      refused: words.optional(),
      choices: texts.optional(),
    }),
    gate: z.looseObject({ command: words, ok: z.boolean(), output: words }),
    ended: z.looseObject({ exitCode: count, text: words }),
    executable: named.extend({ files: texts }),
    landed: z.looseObject({ branch: words, commit: words }),
    cleaned: z.looseObject({ removed: texts, kept: texts }),
  }),
);
const EntrySchema = z.looseObject({ at: words, agent: words, event: z.looseObject({ type: words }) });

/** Undefined for a line that a crash cut off, and for one that no member wrote. */
export function parseLogLine(line: string): TeamEvent | undefined {
  try {
    const entry: TeamEvent = JSON.parse(line);
    const read = EntrySchema.safeParse(entry);
    if (!read.success) return undefined;
    return (SHAPES.get(read.data.event.type)?.safeParse(entry.event).success ?? true) ? entry : undefined;
  } catch {
    return undefined;
  }
}
