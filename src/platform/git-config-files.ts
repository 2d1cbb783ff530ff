import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";

/**
 * The configuration files that a git in this folder reads beside the person's own: the repository's, the worktree's, and those of
 * its submodules, into which `git status` and `git add` look. Undefined outside of a repository.
 */
export function gitConfigFiles(folder: string): string[] | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const pointer = join(at, ".git");
    const kind = kindOf(pointer);
    if (kind === "folder") return filesOf(pointer, pointer);
    if (kind === "file") {
      const target = /^gitdir:\s*(.+?)\s*$/m.exec(readText(pointer))?.[1] ?? "";
      const own = isAbsolute(target) ? target : join(at, target);
      const common = readText(join(own, "commondir")).trim();
      return filesOf(common === "" ? own : isAbsolute(common) ? common : join(own, common), own);
    }
    if (dirname(at) === at) return undefined;
  }
}

function filesOf(common: string, own: string): string[] {
  const modules = own === common ? [common] : [common, own];
  return [join(common, "config"), join(own, "config.worktree"), ...modules.flatMap((folder) => moduleConfigs(join(folder, "modules")))];
}

/** A submodule's name may hold slashes, and it may have submodules itself. */
function moduleConfigs(folder: string): string[] {
  return namesIn(folder).flatMap((name) => {
    const module = join(folder, name);
    if (kindOf(module) !== "folder") return [];
    const isRepository = kindOf(join(module, "HEAD")) === "file";
    return isRepository ? [join(module, "config"), ...moduleConfigs(join(module, "modules"))] : moduleConfigs(module);
  });
}

/** `section.key` and `section.subsection.key`, in the case that stands there. */
export function gitConfigKeys(file: string): string[] {
  const keys: string[] = [];
  let section = "";
  for (const line of readText(file).split(/\r?\n/)) {
    const head = /^\s*\[\s*([\w.-]+)(?:\s+"((?:\\.|[^"\\])*)")?\s*\](.*)$/.exec(line);
    if (head) section = head[2] === undefined ? (head[1] ?? "") : `${head[1]}.${head[2]}`;
    const rest = head ? (head[3] ?? "") : line;
    const key = /^\s*([A-Za-z][\w-]*)\s*(?:[=#;]|$)/.exec(rest)?.[1];
    if (key) keys.push(`${section}.${key}`);
  }
  return keys;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // A file that isn't there configures nothing.
    return "";
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Most repositories have no submodules.
    return [];
  }
}

function kindOf(path: string): "file" | "folder" | undefined {
  try {
    return statSync(path).isDirectory() ? "folder" : "file";
  } catch {
    return undefined;
  }
}
