import { stat } from "node:fs/promises";

type Version = { mtimeNs: bigint; size: bigint; ino: bigint };

/** Which version of a file this agent has read or written; keys are real paths. An edit needs the version that is on disk. */
export class FileState {
  readonly #versions = new Map<string, Version>();

  async remember(realPath: string): Promise<void> {
    this.#versions.set(realPath, await version(realPath));
  }

  async check(realPath: string): Promise<"current" | "changed" | "unread"> {
    const known = this.#versions.get(realPath);
    if (!known) return "unread";
    const now = await version(realPath);
    return now.mtimeNs === known.mtimeNs && now.size === known.size && now.ino === known.ino ? "current" : "changed";
  }
}

async function version(path: string): Promise<Version> {
  const { mtimeNs, size, ino } = await stat(path, { bigint: true });
  return { mtimeNs, size, ino };
}
