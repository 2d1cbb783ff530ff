import { createHash } from "node:crypto";

/** Which content of a file this agent has read or written; keys are real paths. An edit needs the content that is on disk. */
export class FileState {
  readonly #digests: Map<string, string>;

  /** `known`: of one who has read the same before. */
  constructor(known?: FileState) {
    this.#digests = new Map(known ? known.#digests : []);
  }

  remember(realPath: string, digest: string): void {
    this.#digests.set(realPath, digest);
  }

  check(realPath: string, digest: string): "current" | "changed" | "unread" {
    const known = this.#digests.get(realPath);
    if (known === undefined) return "unread";
    // By content: two writes within one tick of the file system's clock have the same time.
    return known === digest ? "current" : "changed";
  }
}

export function digestOf(bytes: Uint8Array): string {
  return createHash("sha1").update(bytes).digest("base64");
}
