import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { readTextOrUndefined, writeAtomic } from "../../platform/files.ts";

/** Modes that git does not keep, such as 0600: a file that comes back must not be open to others when it was not. */
export class FileModes {
  readonly #path: string;
  readonly #modes = new Map<string, number>();
  #isChanged = false;

  constructor(path: string) {
    this.#path = path;
  }

  async load(): Promise<void> {
    const text = await readTextOrUndefined(this.#path);
    const saved: unknown = text === undefined ? {} : parsed(text);
    if (typeof saved !== "object" || saved === null) return;
    for (const [path, mode] of Object.entries(saved)) if (typeof mode === "number") this.#modes.set(path, mode);
  }

  of(path: string): number | undefined {
    return this.#modes.get(path);
  }

  note(path: string, mode: number): void {
    const bits = mode & 0o777;
    if ((bits & 0o077) !== 0 || this.#modes.get(path) === bits) return;
    this.#modes.set(path, bits);
    this.#isChanged = true;
  }

  async noteAll(root: string, paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      const found = await lstat(join(root, path)).catch(() => undefined);
      if (found?.isFile()) this.note(path, found.mode);
    }
    await this.save();
  }

  async save(): Promise<void> {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    await writeAtomic(this.#path, JSON.stringify(Object.fromEntries(this.#modes)));
  }
}

/** A file that was damaged says nothing. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
