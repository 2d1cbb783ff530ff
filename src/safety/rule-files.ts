import { readFile, readlink, realpath, stat } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isErrno, readOddFile, readTextOrUndefined, writeAtomic } from "../platform/files.ts";
import { withLock } from "../platform/lock.ts";
import { UserError } from "../protocol/errors.ts";
import { isRecord } from "../protocol/record.ts";
import { parseRuleBody, type Rule, type RuleEffect, type RuleLevel, type RuleSet, ruleDoubt } from "./rules.ts";

/** `isLocalForeign`: the local file came with the repository; its rules count as the project's. */
export type RuleFiles = { user: string; project: string; local: string; isLocalForeign?: boolean };
type LevelRules = { rules: readonly Rule[]; warnings: readonly string[] };

const LEVELS: readonly ("user" | "project" | "local")[] = ["user", "project", "local"];
const EFFECTS: readonly RuleEffect[] = ["allow", "ask", "deny"];

/**
 * Reads the three levels anew at each call. A file that does not parse leaves the last good rules of its level. `warn` hears each
 * warning once.
 */
export function ruleReader(files: RuleFiles, warn: (text: string) => void = () => undefined): () => Promise<RuleSet> {
  const good = new Map<string, { text: string; level: LevelRules }>();
  const said = new Set<string>();
  return async () => {
    const levels = await Promise.all(
      LEVELS.map((level) => readLevel(files[level], level === "local" && files.isLocalForeign ? "project" : level, good)),
    );
    const warnings = levels.flatMap((level) => level.warnings);
    for (const warning of warnings.filter((each) => !said.has(each))) {
      said.add(warning);
      warn(warning);
    }
    return { rules: levels.flatMap((level) => level.rules), warnings };
  };
}

async function readLevel(file: string, level: RuleLevel, good: Map<string, { text: string; level: LevelRules }>): Promise<LevelRules> {
  const { text = "", problem } = await readOddFile(file);
  const before = good.get(file);
  if (!problem && before?.text === text) return before.level;
  const read = problem ? { ...NOTHING, problem: `${file} ${problem}.` } : await parseLevel(text, file, level);
  if (read.problem !== undefined) {
    const what = before
      ? "The last good rules stay."
      : read.recovered !== undefined
        ? `Its allow rules are off until it is mended; ${recoveredText(read.recovered)}.`
        : read.rules.length > 0
          ? "The other rules of the file count."
          : "None of its rules count until it is mended.";
    return { rules: before?.level.rules ?? read.rules, warnings: [...read.warnings, `${read.problem} ${what}`] };
  }
  good.set(file, { text, level: read });
  return read;
}

function recoveredText(count: number): string {
  if (count === 0) return "no deny or ask rule could be read from it";
  return count === 1 ? "the one deny or ask rule that could be read counts" : `the ${count} deny and ask rules that could be read count`;
}

/** `problem`: not all of the rules could be read. `recovered`: so many were read from the lines of a file that does not parse. */
type ReadRules = LevelRules & { problem?: string; recovered?: number };
const NOTHING: LevelRules = { rules: [], warnings: [] };

async function parseLevel(text: string, file: string, level: RuleLevel): Promise<ReadRules> {
  if (text.trim() === "") return NOTHING;
  const { isNode, LineCounter, parseDocument, contentOf } = await import("../platform/yaml.ts");
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  const said = error ? { problem: error.message } : contentOf(document);
  if ("problem" in said) {
    const { recoverRules } = await import("./recover-rules.ts");
    const rules = recoverRules(text, file, level);
    const place = error ? `${file}:${lines.linePos(error.pos[0]).line}` : file;
    return { rules, warnings: [], recovered: rules.length, problem: `${place}: ${said.problem}.` };
  }
  const content = said.value;
  if (!isRecord(content) || content.permissions === undefined) return NOTHING;
  const placeOf = (...path: readonly (string | number)[]): string => {
    const node: unknown = document.getIn(["permissions", ...path], true);
    const start = isNode(node) ? node.range?.[0] : undefined;
    return start === undefined ? file : `${file}:${lines.linePos(start).line}`;
  };
  if (!isRecord(content.permissions))
    return { ...NOTHING, problem: `${placeOf()}: "permissions" is not a map with the lists allow, ask and deny.` };
  return fromLists(content.permissions, placeOf, level);
}

/** A rule or a list that is written wrongly takes no other with it. */
function fromLists(lists: Record<string, unknown>, placeOf: (...path: (string | number)[]) => string, level: RuleLevel): ReadRules {
  const rules: Rule[] = [];
  const warnings: string[] = [];
  const problems: string[] = [];
  for (const effect of EFFECTS) {
    const given = lists[effect];
    if (given === undefined || given === null) continue;
    if (!Array.isArray(given)) problems.push(`${placeOf(effect)}: "permissions.${effect}" is not a list of texts.`);
    // A prohibition counts also where the dash before it was forgotten.
    const list: unknown[] = Array.isArray(given) ? given : effect !== "allow" && typeof given === "string" ? [given] : [];
    for (const [index, text] of list.entries()) {
      const place = Array.isArray(given) ? placeOf(effect, index) : placeOf(effect);
      if (typeof text !== "string") {
        problems.push(`${place}: a rule of "permissions.${effect}" is not a text.`);
        continue;
      }
      const rule = parseRuleBody(effect, text, level);
      if ("warning" in rule) warnings.push(`${place}: ${rule.warning}`);
      else {
        rules.push({ ...rule, source: place });
        const doubt = ruleDoubt(rule);
        if (doubt) warnings.push(`${place}: ${doubt}`);
      }
    }
  }
  return { rules, warnings, ...(problems.length > 0 ? { problem: problems.join(" ") } : {}) };
}

/** Adds allow rules to the local settings; comments and everything else of the file stay as they are. */
export async function addLocalRules(localFile: string, rules: readonly string[]): Promise<void> {
  await addToLists(localFile, [{ path: ["permissions", "allow"], items: rules }]);
  await keepOutOfGit(localFile);
}

export type ListAddition = { path: readonly string[]; items: readonly unknown[] };

/** Adds what is not there yet to lists of a settings file; gives how many items it added. Comments and everything else stay as they are. */
export async function addToLists(settingsFile: string, additions: readonly ListAddition[], isDryRun = false): Promise<number> {
  const file = await linkTarget(settingsFile);
  const change = async () => {
    const { parseDocument, isSeq } = await import("../platform/yaml.ts");
    const { text = "", problem } = await readOddFile(file);
    if (problem) throw new UserError(`${file} ${problem}; mend it, then do this again.`);
    const document = parseDocument(text);
    if (document.errors.length > 0) throw new UserError(`${file} does not parse; mend it, then do this again.`);
    let added = 0;
    for (const { path, items } of additions) {
      for (const item of items) {
        const list = document.getIn(path);
        if (!isSeq(list)) document.setIn(path, document.createNode([item]));
        else if (list.toJSON().some((one: unknown) => isDeepStrictEqual(one, item))) continue;
        else list.add(document.createNode(item));
        added += 1;
      }
    }
    if (added > 0 && !isDryRun) await writeAtomic(file, document.toString(), { mode: await modeOf(file) });
    return added;
  };
  return isDryRun ? change() : withLock(file, change);
}

/** As it is; a new one is the owner's. */
async function modeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ mode }) => mode & 0o777,
    () => 0o600,
  );
}

/** A link stays one: what it leads to is written. */
async function linkTarget(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch (error) {
    if (!isErrno(error, "ENOENT", "ENOTDIR")) throw error;
    const link = await readlink(file).catch(() => undefined);
    return link === undefined ? file : resolve(dirname(file), link);
  }
}

/** The file of this machine must not be committed: named in the repository's own exclude file. */
export async function keepOutOfGit(file: string): Promise<void> {
  const folder = dirname(dirname(file));
  const gitFolder = await findGitFolder(folder);
  if (!gitFolder) return;
  const line = `/${relative(gitFolder.top, file).split("\\").join("/")}`;
  const exclude = join(gitFolder.common, "info", "exclude");
  await withLock(exclude, async () => {
    const text = (await readTextOrUndefined(exclude)) ?? "";
    if (text.split(/\r?\n/).includes(line)) return;
    const gap = text === "" || text.endsWith("\n") ? "" : "\n";
    await writeAtomic(exclude, `${text}${gap}${line}\n`, { mode: 0o644 });
  });
}

async function findGitFolder(start: string): Promise<{ top: string; common: string } | undefined> {
  for (let top = start; ; top = dirname(top)) {
    const pointer = join(top, ".git");
    try {
      const own = resolve(top, /^gitdir:\s*(.+?)\s*$/m.exec(await readFile(pointer, "utf8"))?.[1] ?? ".git");
      const common = await readTextOrUndefined(join(own, "commondir"));
      return { top, common: common === undefined ? own : resolve(own, common.trim()) };
    } catch (error) {
      if (isErrno(error, "EISDIR")) return { top, common: pointer };
      if (!isErrno(error, "ENOENT", "ENOTDIR")) throw error;
    }
    if (dirname(top) === top) return undefined;
  }
}
