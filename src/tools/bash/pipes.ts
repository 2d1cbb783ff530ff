import { execFile } from "node:child_process";
import { closeSync, constants, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ownEnvironment } from "../../platform/own-programs.ts";
import { makeTempFolder } from "../../platform/temp-folder.ts";

export type Pipe = { read: number; write: number };

const BATCH = 8;

/**
 * Real pipes. Node gives a child sockets, and a socket can't be opened again: `> /dev/stderr` and `tee /dev/stdout` would fail.
 * Made in batches, because each batch starts a program; their names are gone before anyone could see them.
 */
export class Pipes {
  readonly #free: Pipe[] = [];
  #making: Promise<void> | undefined;

  /** Undefined where there are none: a socket has to do. */
  async take(): Promise<Pipe | undefined> {
    if (this.#free.length === 0) {
      this.#making ??= this.#make().finally(() => {
        this.#making = undefined;
      });
      await this.#making;
    }
    return this.#free.pop();
  }

  close(): void {
    for (const { read, write } of this.#free.splice(0)) {
      closeSync(read);
      closeSync(write);
    }
  }

  async #make(): Promise<void> {
    const folder = makeTempFolder("pipes");
    try {
      const names = Array.from({ length: BATCH }, (_, index) => join(folder, String(index)));
      await promisify(execFile)("mkfifo", ["-m", "600", ...names], { env: ownEnvironment() });
      for (const name of names) {
        const read = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK);
        this.#free.push({ read, write: openSync(name, constants.O_WRONLY) });
      }
    } catch {
      // No mkfifo, or a file system without pipes.
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}
