import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Guarded, isInside, type Mount } from "./policy.ts";

const LINK_LIMIT = 40;

/** Collects what must stay as it is although a folder above it may be written to. */
export class Protection {
  readonly #writable: readonly string[];
  readonly #found: { mounts: Mount[]; guarded: Guarded[] };

  /** `writable` are real paths. */
  constructor(writable: readonly string[], found: { mounts: Mount[]; guarded: Guarded[] }) {
    this.#writable = writable;
    this.#found = found;
  }

  /** Whether it is there or not; a link keeps its target, and the target is protected too. */
  add(path: string, links = 0): void {
    const folder = this.#writable.filter((one) => one !== path && isInside(path, one)).sort((a, b) => b.length - a.length)[0];
    if (folder === undefined || links > LINK_LIMIT) return;
    const between: string[] = [];
    let at = folder;
    for (const name of path.slice(folder === "/" ? 1 : folder.length + 1).split("/")) {
      at = join(at, name);
      const found = lstatSync(at, { throwIfNoEntry: false });
      if (found === undefined) {
        this.#found.guarded.push({ path, link: undefined, from: dirname(at) });
        return;
      }
      if (found.isSymbolicLink()) {
        this.#found.guarded.push({ path: at, link: readlinkSync(at), from: dirname(at) });
        const target = realOrUndefined(at);
        if (target !== undefined) this.add(join(target, path.slice(at.length)), links + 1);
        return;
      }
      if (at !== path) between.push(at);
    }
    // A folder that holds mounts can be moved away with them; one that is a mount itself can't.
    for (const each of between) this.#found.mounts.push({ path: each, kind: "write" });
    this.#found.mounts.push({ path, kind: "read" });
  }
}

/** The path with its links resolved; undefined when nothing is there. */
export function realOrUndefined(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    // Not there, a loop of links, or not ours to look at: nothing to open either way.
    return undefined;
  }
}
