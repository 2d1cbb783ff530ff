import { readFileSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { isExecKey } from "./git-command.ts";

/**
 * Whether the configuration of the repository around a folder names a program that a reading git would start. Remembered until one of
 * the files changes; a repository that can't be read counts as unsafe.
 */
export function gitConfigReader(): (folder: string) => boolean {
  const known = new Map<string, { stamp: string; isSafe: boolean }>();
  return (folder) => {
    const files = configFiles(folder);
    if (!files) return true;
    const stamp = files.map(stampOf).join();
    const before = known.get(folder);
    if (before?.stamp === stamp) return before.isSafe;
    const isSafe = files.every((file) => !readConfig(file).some(isExecKey));
    known.set(folder, { stamp, isSafe });
    return isSafe;
  };
}

/** `section.key` and `section.subsection.key` of a configuration file's text. */
function configKeys(text: string): string[] {
  const keys: string[] = [];
  let section = "";
  for (const line of text.split(/\r?\n/)) {
    const head = /^\s*\[\s*([\w.-]+)(?:\s+"((?:\\.|[^"\\])*)")?\s*\](.*)$/.exec(line);
    if (head) section = head[2] === undefined ? (head[1] ?? "") : `${head[1]}.${head[2]}`;
    const rest = head ? (head[3] ?? "") : line;
    const key = /^\s*([A-Za-z][\w-]*)\s*(?:=|$)/.exec(rest)?.[1];
    if (key) keys.push(`${section}.${key}`);
  }
  return keys;
}

function configFiles(folder: string): string[] | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const pointer = join(at, ".git");
    const kind = kindOf(pointer);
    if (kind === "folder") return [join(pointer, "config"), join(pointer, "config.worktree")];
    if (kind === "file") {
      const target = /^gitdir:\s*(.+?)\s*$/m.exec(readText(pointer))?.[1] ?? "";
      const own = isAbsolute(target) ? target : join(at, target);
      const common = readText(join(own, "commondir")).trim();
      const shared = common === "" ? own : isAbsolute(common) ? common : join(own, common);
      return [join(shared, "config"), join(own, "config.worktree")];
    }
    if (dirname(at) === at) return undefined;
  }
}

function readConfig(file: string): string[] {
  return configKeys(readText(file)).filter((key) => !isPlainKey(key));
}

/** Keys of every clone, which say where it came from. */
function isPlainKey(key: string): boolean {
  return /^(remote\..*\.(url|fetch|pushurl)|branch\..*|core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks))$/i.test(
    key,
  );
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // A file that isn't there configures nothing.
    return "";
  }
}

function kindOf(path: string): "file" | "folder" | undefined {
  try {
    return statSync(path).isDirectory() ? "folder" : "file";
  } catch {
    return undefined;
  }
}

function stampOf(path: string): string {
  try {
    const found = statSync(path);
    return `${found.mtimeMs}:${found.size}:${found.ino}`;
  } catch {
    return "none";
  }
}
