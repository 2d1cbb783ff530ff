import { chmod, lstat, realpath, rm, rmdir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { exists } from "../../platform/files.ts";
import { GitError, git } from "../../platform/git.ts";
import { openSnapshotIndex, type SnapshotIndex, type SnapshotOptions } from "./snapshot-index.ts";

const MAX_FILE_BYTES = 20 * 1024 * 1024;
/** A folder without a repository may be anything, a home for example. */
const MAX_FILES = 50_000;
const LISTING_MS = 5_000;

export type Change = { path: string; type: "added" | "changed" | "deleted" };

/**
 * What the files of a folder are at a moment, as git trees in a store of our own: the user's git neither sees nor feels it. Files
 * that git ignores are not in it, except those that were named; nor files above 20 MB, devices, and repositories inside this one.
 * Without a repository, in a folder that is too large to look through, only the named ones are.
 */
export class SnapshotStore {
  readonly #options: SnapshotOptions;
  readonly #named = new Set<string>();
  #opened: Promise<SnapshotIndex> | undefined;
  #tree = "";

  constructor(options: SnapshotOptions) {
    this.#options = options;
  }

  /** A file that counts although git may ignore it; `path` is absolute. What lies outside the root does not count. */
  name(path: string): void {
    const inside = relative(this.#options.root, path);
    if (inside !== "" && !inside.startsWith("..")) this.#named.add(inside);
  }

  /** Id of the tree of what the files are now. */
  async take(): Promise<string> {
    const { present, gone } = await this.#candidates();
    if (this.#tree !== "" && present.length === 0 && gone.length === 0) return this.#tree;
    if (gone.length > 0) await this.#git(["update-index", "--force-remove", "-z", "--stdin"], lines(gone));
    // A file of this moment may have gone by the next.
    if (present.length > 0) await this.#git(["update-index", "--add", "--remove", "--replace", "-z", "--stdin"], lines(present));
    this.#tree = (await this.#git(["write-tree"])).trim();
    return this.#tree;
  }

  async changes(from: string, to: string): Promise<Change[]> {
    if (from === to) return [];
    const fields = (await this.#git(["diff-tree", "-r", "-z", "--no-renames", "--name-status", from, to])).split("\0");
    const changes: Change[] = [];
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const status = fields[at] ?? "";
      changes.push({ path: fields[at + 1] ?? "", type: status === "A" ? "added" : status === "D" ? "deleted" : "changed" });
    }
    return changes;
  }

  /** Makes these files what they are in the tree; those that are not in it go. Gives the paths that are still different after it. */
  async restore(tree: string, paths: readonly string[]): Promise<string[]> {
    const { index } = await this.#open();
    const aside = { GIT_INDEX_FILE: `${index}.restore` };
    const modes = new Map(await Promise.all(paths.map(async (path) => [path, await this.#modeOf(path)] as const)));
    try {
      await this.#git(["read-tree", tree], "", aside);
      const known = idsOf(await this.#git(["ls-files", "-s", "-z"], "", aside));
      const kept = await this.#readable(
        paths.filter((path) => known.has(path)),
        known,
      );
      for (const path of paths) if (!known.has(path)) await this.#remove(path);
      // What stands in its way is left as it is; the comparison below tells of it.
      await this.#run(["checkout-index", "-f", "-q", "-z", "--stdin"], lines(kept), aside);
      for (const path of kept) await this.#giveMode(path, modes.get(path));
    } finally {
      await rm(aside.GIT_INDEX_FILE, { force: true });
    }
    const wanted = new Set(paths);
    return (await this.changes(tree, await this.take())).map((change) => change.path).filter((path) => wanted.has(path));
  }

  /** Those whose bytes are still there. What the user's git held is not stored here too, and that git may have thrown it away. */
  async #readable(paths: readonly string[], ids: ReadonlyMap<string, string>): Promise<string[]> {
    const wanted = paths.map((path) => ids.get(path) ?? "");
    const found = (await this.#git(["cat-file", "--batch-check=%(objecttype)"], wanted.map((id) => `${id}\n`).join(""))).split("\n");
    return paths.filter((_, at) => found[at] === "blob");
  }

  #open(): Promise<SnapshotIndex> {
    this.#opened ??= openSnapshotIndex(this.#options);
    return this.#opened;
  }

  async #candidates(): Promise<{ present: string[]; gone: string[] }> {
    const { modes } = await this.#open();
    const listed = await this.#listed();
    const named = await this.#namedHere();
    // A name that is no UTF-8 can't be handed back to git.
    const paths = [...new Set([...listed, ...named])].filter((path) => path !== "" && !path.endsWith("/") && !path.includes("\uFFFD"));
    const present: string[] = [];
    const gone: string[] = [];
    const folders = new Map<string, Promise<boolean>>();
    for (const path of paths) {
      const folder = dirname(path);
      const isInside = folders.get(folder) ?? this.#isInside(folder);
      folders.set(folder, isInside);
      const found = (await isInside) ? await lstat(this.#file(path)).catch(() => undefined) : undefined;
      if (!found) gone.push(path);
      else if (found.isSymbolicLink()) present.push(path);
      else if (found.isFile() && found.size <= MAX_FILE_BYTES) {
        present.push(path);
        modes.note(path, found.mode);
      }
    }
    await modes.save();
    return { present, gone };
  }

  /** A file in a repository inside this one would take the place of that repository, and its neighbours would seem to be new. */
  async #namedHere(): Promise<string[]> {
    const here: string[] = [];
    for (const path of this.#named) if (!(await this.#isInOtherRepository(path))) here.push(path);
    return here;
  }

  async #isInOtherRepository(path: string): Promise<boolean> {
    for (let folder = dirname(path); folder !== "."; folder = dirname(folder))
      if (await exists(this.#file(join(folder, ".git")))) return true;
    return false;
  }

  async #listed(): Promise<string[]> {
    const args = ["ls-files", "-z", "-m", "-o", "--exclude-standard"];
    if (this.#options.isRepository) return (await this.#git(args)).split("\0");
    const tooLong = new AbortController();
    const timer = setTimeout(() => tooLong.abort(), LISTING_MS);
    try {
      const paths = (await this.#git(args, "", {}, tooLong.signal)).split("\0");
      return paths.length > MAX_FILES ? [] : paths;
    } catch (error) {
      if (tooLong.signal.aborted) return [];
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** With the folders that it leaves empty. */
  async #remove(path: string): Promise<void> {
    if (!(await this.#isInside(dirname(path)))) return;
    const found = await lstat(this.#file(path)).catch(() => undefined);
    if (!found || found.isDirectory()) return;
    await rm(this.#file(path), { force: true });
    for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) {
      const isEmptied = await rmdir(this.#file(folder)).then(
        () => true,
        () => false,
      );
      if (!isEmptied) return;
    }
  }

  /** The folder is there, and no link on the way leads elsewhere. */
  async #isInside(folder: string): Promise<boolean> {
    const root = await realpath(this.#options.root);
    const real = await realpath(this.#file(folder)).catch(() => undefined);
    return real === join(root, folder);
  }

  async #modeOf(path: string): Promise<number | undefined> {
    const { modes } = await this.#open();
    const found = await lstat(this.#file(path)).catch(() => undefined);
    return found?.isFile() ? found.mode & 0o777 : modes.of(path);
  }

  /** git gives 0644 or 0755: what was closed to others stays closed. */
  async #giveMode(path: string, mode: number | undefined): Promise<void> {
    const found = await lstat(this.#file(path)).catch(() => undefined);
    if (!found?.isFile() || mode === undefined) return;
    const executable = (found.mode & 0o100) === 0 ? 0 : (mode & 0o444) >> 2;
    await chmod(this.#file(path), (mode & 0o666) | executable);
  }

  #file(path: string): string {
    return join(this.#options.root, path);
  }

  async #git(args: readonly string[], input = "", env: NodeJS.ProcessEnv = {}, signal?: AbortSignal): Promise<string> {
    const result = await this.#run(args, input, env, signal);
    if (result.exitCode !== 0) throw new GitError(args, result);
    return result.stdout;
  }

  async #run(args: readonly string[], input: string, env: NodeJS.ProcessEnv, signal?: AbortSignal) {
    const opened = await this.#open();
    return git(this.#options.root, args, { env: { ...opened.env, ...env }, input, ...(signal ? { signal } : {}) });
  }
}

/** By path, what `ls-files -s -z` lists: mode, id, stage, tab, path. */
function idsOf(listing: string): Map<string, string> {
  const entries = listing.split("\0").map((line) => /^\d+ (\w+) \d\t([\s\S]*)$/.exec(line));
  return new Map(entries.flatMap((entry) => (entry?.[1] && entry[2] ? [[entry[2], entry[1]] as const] : [])));
}

function lines(paths: readonly string[]): string {
  return paths.map((path) => `${path}\0`).join("");
}
