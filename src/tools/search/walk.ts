import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import type { Ignore } from "ignore";
import { readTextOrUndefined } from "../../platform/files.ts";

type Matcher = { base: string; matcher: Ignore };
/** Deepest first. Any .gitignore says more than a repository's own exclude file. */
type Rules = { ignores: readonly Matcher[]; excludes: readonly Matcher[] };

const NONE: Rules = { ignores: [], excludes: [] };

/** Regular files below `root` that its .gitignore files let through, hidden ones included, `.git` not; links are not followed. Relative paths. */
export async function* walkFiles(root: string, isParentIgnored: boolean, signal: AbortSignal): AsyncGenerator<string> {
  const above = isParentIgnored ? NONE : await rulesAbove(root);
  const pending: { folder: string; rules: Rules }[] = [{ folder: root, rules: above }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    if (signal.aborted) return;
    const { folder } = next;
    const rules = await rulesOf(folder, next.rules);
    // Gone or closed to us since it was listed: there is nothing to find.
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (entry.name === ".git") continue;
      const path = join(folder, entry.name);
      if (isIgnored(path, entry.isDirectory(), rules)) continue;
      if (entry.isDirectory()) pending.push({ folder: path, rules });
      else if (entry.isFile()) yield relative(root, path);
    }
  }
}

/** Whether the ignore files above name this folder itself; who searches in it all the same means its files. */
export async function isIgnoredFolder(folder: string): Promise<boolean> {
  const above = await rulesAbove(folder);
  for (let at = folder; dirname(at) !== at; at = dirname(at)) if (isIgnored(at, true, above)) return true;
  return false;
}

function isIgnored(path: string, isFolder: boolean, { ignores, excludes }: Rules): boolean {
  for (const { base, matcher } of [...ignores, ...excludes]) {
    const name = relative(base, path);
    if (name === "" || name.startsWith("..")) continue;
    const { ignored, unignored } = matcher.test(isFolder ? `${name}/` : name);
    if (ignored || unignored) return ignored;
  }
  return false;
}

/** Of the folders above, up to the repository that `folder` is in, or up to the root of the disk. */
async function rulesAbove(folder: string): Promise<Rules> {
  if ((await gitOf(folder)) !== undefined || dirname(folder) === folder) return NONE;
  const parents: string[] = [];
  for (let at = dirname(folder); ; at = dirname(at)) {
    parents.unshift(at);
    if ((await gitOf(at)) !== undefined || dirname(at) === at) break;
  }
  let rules = NONE;
  for (const parent of parents) rules = await rulesOf(parent, rules);
  return rules;
}

async function rulesOf(folder: string, inherited: Rules): Promise<Rules> {
  const git = await gitOf(folder);
  const { ignores, excludes } = git === undefined ? inherited : NONE;
  const own = await matcherOf(folder, join(folder, ".gitignore"));
  const exclude = git === undefined ? undefined : await matcherOf(folder, join(git, "info", "exclude"));
  if (git === undefined && !own) return inherited;
  return { ignores: own ? [own, ...ignores] : ignores, excludes: exclude ? [exclude, ...excludes] : excludes };
}

async function matcherOf(base: string, file: string): Promise<Matcher | undefined> {
  // A folder of this name, or one that can't be read, ignores nothing.
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const { default: ignore } = await import("ignore");
  return { base, matcher: ignore({ ignorecase: false }).add(text) };
}

/** The common folder of the repository whose top this is. */
async function gitOf(folder: string): Promise<string | undefined> {
  const pointer = join(folder, ".git");
  const found = await stat(pointer).catch(() => undefined);
  if (!found) return undefined;
  if (found.isDirectory()) return pointer;
  const own = resolve(folder, /^gitdir:\s*(.+?)\s*$/m.exec((await readTextOrUndefined(pointer)) ?? "")?.[1] ?? ".git");
  const common = await readTextOrUndefined(join(own, "commondir")).catch(() => undefined);
  return common === undefined ? own : resolve(own, common.trim());
}
