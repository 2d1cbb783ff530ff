import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, mkdirSync, openSync, readSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { isErrno, isUnwritable } from "../platform/files.ts";
import type { Message } from "../protocol/message.ts";
import type { Session, SessionEntry, SessionHeader } from "../protocol/session.ts";
import { toLine } from "./entry-line.ts";
import type { LoadedSession } from "./load-session.ts";

const MAX_WAITING_BYTES = 32 * 1024 * 1024;
/** The list of sessions reads so much of a file's end; the name is written anew so that it stands there. */
const NAME_EVERY_BYTES = 32 * 1024;

/** A new session: its header is the file's first line. */
export function createSession(path: string, header: SessionHeader, onProblem?: OnProblem): SessionFile {
  const session = new SessionFile(path, header, { onProblem });
  session.write(header);
  return session;
}

/**
 * Opens a session that exists. Lines that are damaged are skipped and reported; calls that the last process left open get an
 * honest error result, which is written to the file, so that the next load finds nothing to mend.
 */
export async function openSession(path: string, onProblem?: OnProblem): Promise<{ session: SessionFile; loaded: LoadedSession }> {
  const { loadSession } = await import("./load-session.ts");
  const { loaded, added } = loadSession(path);
  const session = new SessionFile(path, loaded.header, { onProblem, name: loaded.name });
  for (const entry of added) session.write(entry);
  return { session, loaded };
}

/** Told in words, at most once for each time that writing stops, and at the end for what was never written. */
export type OnProblem = (text: string) => void;

/**
 * Whole lines, in the order of the calls, in the kernel's hands when `append` resolves: a killed process loses nothing; after
 * `sync` neither does a machine without power. A full disk does not end the run: lines wait in memory and are tried
 * again with each that comes.
 */
export class SessionFile implements Session {
  readonly path: string;
  readonly id: string;
  readonly header: SessionHeader;
  readonly #onProblem: OnProblem;
  #fd: number | undefined;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** Entries that found no room among those that wait: from the first on the rest is lost too, so that the file has no hole. */
  #lost = 0;
  #isFailing = false;
  #isOnDisk = false;
  #name: string | undefined;
  #bytesSinceName = 0;

  constructor(path: string, header: SessionHeader, options: { onProblem?: OnProblem | undefined; name?: string | undefined } = {}) {
    this.path = path;
    this.header = header;
    this.id = header.id;
    this.#onProblem = options.onProblem ?? ((text) => void process.stderr.write(`${text}\n`));
    this.#name = options.name;
    this.#flush();
  }

  /** Entries that are not in the file. */
  get unsaved(): number {
    return this.#waiting.length + this.#lost;
  }

  get name(): string | undefined {
    return this.#name;
  }

  write(entry: SessionEntry): void {
    this.#queue(entry);
    if (entry.type === "name") {
      this.#name = entry.name;
      this.#bytesSinceName = 0;
    } else if (this.#name !== undefined && this.#bytesSinceName > NAME_EVERY_BYTES) {
      this.#bytesSinceName = 0;
      this.#queue({ type: "name", at: new Date().toISOString(), name: this.#name });
    }
    this.#flush();
    this.#isOnDisk = false;
  }

  async append(entry: SessionEntry): Promise<void> {
    this.write(entry);
  }

  sync(): void {
    if (this.#fd === undefined || this.#isOnDisk) return;
    try {
      fdatasyncSync(this.#fd);
      this.#isOnDisk = true;
    } catch (error) {
      // The bytes are in the kernel's hands; some file systems can't do more.
      if (!isUnwritable(error) && !isErrno(error, "EINVAL", "ENOTSUP")) throw error;
    }
  }

  async history(): Promise<Message[]> {
    const { loadSession } = await import("./load-session.ts");
    return loadSession(this.path).loaded.history;
  }

  close(): void {
    this.#flush();
    const { unsaved } = this;
    // Where the file was never made, it was said that nothing is kept.
    if (unsaved > 0 && this.#fd !== undefined)
      this.#onProblem(`The session was not saved whole: its last ${unsaved} entries are missing in ${this.path}.`);
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #queue(entry: SessionEntry): void {
    const line = Buffer.from(toLine(entry));
    if (this.#lost > 0 || this.#waitingBytes + line.length > MAX_WAITING_BYTES) {
      this.#lost += 1;
      return;
    }
    this.#waiting.push(line);
    this.#waitingBytes += line.length;
    this.#bytesSinceName += line.length;
  }

  #flush(): void {
    try {
      this.#fd ??= openForAppend(this.path);
      for (let line = this.#waiting[0]; line; line = this.#waiting[0]) {
        writeWhole(this.#fd, line);
        this.#waiting.shift();
        this.#waitingBytes -= line.length;
      }
      if (!this.#isFailing) return;
      this.#isFailing = false;
      if (this.#lost === 0) this.#onProblem("The session is saved again; nothing of it is missing.");
    } catch (error) {
      if (!isUnwritable(error)) throw error;
      if (this.#isFailing) return;
      this.#isFailing = true;
      this.#onProblem(`The session can't be saved to ${this.path} (${error.message}). The work goes on in memory; saving is tried again.`);
    }
  }
}

function openForAppend(path: string): number {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const fd = openSync(path, "a+", 0o600);
  try {
    // A line that a crash cut off must not take the next one with it.
    if (!endsWithNewline(fd)) writeSync(fd, "\n");
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** All of the line or nothing: half a line is taken back. */
function writeWhole(fd: number, line: Buffer): void {
  let written = 0;
  try {
    while (written < line.length) written += writeSync(fd, line, written);
  } catch (error) {
    if (written > 0) ftruncateSync(fd, fstatSync(fd).size - written);
    throw error;
  }
}

function endsWithNewline(fd: number): boolean {
  const { size } = fstatSync(fd);
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  readSync(fd, last, 0, 1, size - 1);
  return last[0] === 0x0a;
}
