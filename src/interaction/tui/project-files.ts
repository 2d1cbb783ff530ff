import { fuzzyFilter } from "@earendil-works/pi-tui";
import { ignoreScope } from "../../tools/search/walk.ts";

/** So long a list counts; then it is read anew, behind what is shown of the old one. */
const FRESH_MS = 5_000;

/** The files and folders of the project that no ignore file names, for completion. Read when the first is asked for. */
export class ProjectFiles {
  readonly #cwd: string;
  #paths: readonly string[] | undefined;
  #readAt = 0;
  #reading: Promise<readonly string[]> | undefined;

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  /** Best first. Empty text gives what lies in the folder itself. */
  async matching(text: string, most: number, signal: AbortSignal): Promise<string[]> {
    const paths = await this.#all();
    if (signal.aborted) return [];
    if (text === "") return paths.filter((path) => !path.replace(/\/$/, "").includes("/")).slice(0, most);
    return fuzzyFilter([...paths], text, (path) => path).slice(0, most);
  }

  async #all(): Promise<readonly string[]> {
    const isOld = this.#paths === undefined || performance.now() - this.#readAt > FRESH_MS;
    if (isOld && !this.#reading) {
      this.#reading = this.#read().finally(() => {
        this.#reading = undefined;
      });
      this.#reading.catch(() => undefined);
    }
    return this.#paths ?? (await this.#reading) ?? [];
  }

  async #read(): Promise<readonly string[]> {
    const target = { place: this.#cwd, path: this.#cwd, ignores: await ignoreScope(this.#cwd) };
    const { findRipgrep } = await import("../../tools/search/ripgrep.ts");
    const rg = await findRipgrep();
    const { signal } = new AbortController();
    const { files } = rg
      ? await (await import("../../tools/search/by-ripgrep.ts")).listByRipgrep(rg, {}, target, signal)
      : await (await import("../../tools/search/by-walking.ts")).listByWalking({}, target, signal);
    this.#paths = [...foldersOf(files), ...files].sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1));
    this.#readAt = performance.now();
    return this.#paths;
  }
}

function foldersOf(files: readonly string[]): Set<string> {
  const folders = new Set<string>();
  for (const file of files)
    for (let end = file.lastIndexOf("/"); end > 0; end = file.lastIndexOf("/", end - 1)) {
      const folder = file.slice(0, end + 1);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  return folders;
}

function depth(path: string): number {
  let count = 0;
  for (const letter of path.endsWith("/") ? path.slice(0, -1) : path) if (letter === "/") count += 1;
  return count;
}
