import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Ignore } from "ignore";
import { readTextOrUndefined } from "../platform/files.ts";

/** Regular files below `root` that its .gitignore files let through, hidden ones included, `.git` not; links are not followed. */
export async function* walkFiles(root: string, signal: AbortSignal): AsyncGenerator<string> {
  const { default: ignore } = await import("ignore");
  const pending: { folder: string; rules: readonly { base: string; matcher: Ignore }[] }[] = [{ folder: root, rules: [] }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    if (signal.aborted) return;
    const { folder } = next;
    const own = await readTextOrUndefined(join(folder, ".gitignore"));
    const rules = own === undefined ? next.rules : [...next.rules, { base: folder, matcher: ignore().add(own) }];
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name === ".git") continue;
      const path = join(folder, entry.name);
      const asNamed = (base: string) => `${relative(base, path)}${entry.isDirectory() ? "/" : ""}`;
      if (rules.some(({ base, matcher }) => matcher.ignores(asNamed(base)))) continue;
      if (entry.isDirectory()) pending.push({ folder: path, rules });
      else if (entry.isFile()) yield path;
    }
  }
}

/** Undefined for binary files and what can't be read. */
export async function readTextFile(path: string): Promise<string | undefined> {
  try {
    const bytes = await readFile(path);
    return bytes.subarray(0, 8192).includes(0) ? undefined : bytes.toString("utf8");
  } catch {
    return undefined;
  }
}
