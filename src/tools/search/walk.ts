import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import type { Ignore } from "ignore";
import { readTextOrUndefined } from "../../platform/files.ts";

type Matcher = { base: string; matcher: Ignore };
/** Deepest first. Any .gitignore says more than a repository's own exclude file. */
type Rules = { ignores: readonly Matcher[]; excludes: readonly Matcher[] };

const NONE: Rules = { ignores: [], excludes: [] };

/** Which ignore files count for a folder: in a repository those up to its top, elsewhere only its own and those below. */
export type IgnoreScope = { isRepository: boolean; takesParents: boolean };

/** Regular files below `root` that its .gitignore files let through, hidden ones included, `.git` not; links are not followed. Relative paths. */
export async function* walkFiles(root: string, { isRepository, takesParents }: IgnoreScope, signal: AbortSignal): AsyncGenerator<string> {
  const above = takesParents ? await rulesAbove(root) : NONE;
  const pending: { folder: string; rules: Rules }[] = [{ folder: root, rules: above }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    if (signal.aborted) return;
    const { folder } = next;
    const rules = await rulesOf(folder, next.rules, isRepository);
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

/** Who searches in a folder that the ignore files above name means its files all the same, so these do not count then. */
export async function ignoreScope(folder: string): Promise<IgnoreScope> {
  const isRepository = (await parentsInRepository(folder)) !== undefined;
  if (!isRepository) return { isRepository, takesParents: false };
  const above = await rulesAbove(folder);
  for (let at = folder; dirname(at) !== at; at = dirname(at)) if (isIgnored(at, true, above)) return { isRepository, takesParents: false };
  return { isRepository, takesParents: true };
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

async function rulesAbove(folder: string): Promise<Rules> {
  let rules = NONE;
  for (const parent of (await parentsInRepository(folder)) ?? []) rules = await rulesOf(parent, rules, true);
  return rules;
}

/** The folders from the top of the repository down to the one above; none for the top itself, undefined outside of a repository. */
async function parentsInRepository(folder: string): Promise<string[] | undefined> {
  const parents: string[] = [];
  for (let at = folder; ; at = dirname(at)) {
    if (at !== folder) parents.unshift(at);
    if ((await gitOf(at)) !== undefined) return parents;
    if (dirname(at) === at) return undefined;
  }
}

/** A repository within another one has rules of its own. */
async function rulesOf(folder: string, inherited: Rules, isRepository: boolean): Promise<Rules> {
  const git = isRepository ? await gitOf(folder) : undefined;
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
