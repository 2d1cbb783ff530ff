import { type FSWatcher, watch } from "node:fs";

/**
 * Watches one folder by file events (a mailbox's `new/`). Undefined where the system refuses (EMFILE, ENOSPC, no inotify):
 * the caller then sweeps more often. `onChange` may be called too often, never with a promise of what changed.
 */
export function watchFolder(path: string, onChange: () => void): { close(): void } | undefined {
  let watcher: FSWatcher;
  try {
    watcher = watch(path, { persistent: false }, onChange);
  } catch {
    return undefined;
  }
  watcher.on("error", () => watcher.close());
  return watcher;
}

/** Watches one file, there or not yet, by chokidar. For logs and settings, never for a mailbox: it looks at every entry. */
export async function watchFile(path: string, onChange: () => void): Promise<{ close(): Promise<void> }> {
  const { watch: watchPaths } = await import("chokidar");
  const watcher = watchPaths(path, { ignoreInitial: true });
  // Of two changes within milliseconds it tells the first alone, so the last line of a log may be missed: the system's own events count too.
  watcher.on("add", onChange).on("change", onChange).on("raw", onChange);
  // What comes before is taken for what was there at the start, and not told.
  await new Promise<void>((resolve) => watcher.once("ready", () => resolve()));
  return { close: () => watcher.close() };
}
