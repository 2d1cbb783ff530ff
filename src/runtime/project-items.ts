import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { isErrno, readOddFile } from "../platform/files.ts";
import { type GitProgram, programText } from "../platform/git-programs.ts";
import { projectPaths } from "../platform/paths.ts";
import { isRecord } from "../protocol/record.ts";
import type { RuleSet } from "../safety/rules.ts";
import { isFolderSkill, type SkillSource } from "../tools/skills/skill-files.ts";
import type { Surroundings } from "./surroundings.ts";

const DEFINITIONS = [
  [".roocode", ["agents", "skills", "commands"]],
  [".claude", ["agents", "skills", "commands"]],
  [".agents", ["skills"]],
] as const;
/** Front matter by which a definition gets tools or runs something; what only has words needs no trust. */
const BEARS_TOOLS = /^(?:allowed[-_]?tools|tools|permission[-_]?mode|hooks|mcp[-_]?servers)\s*:/im;
const MAX_DEFINITIONS = 500;

/**
 * All that a project brings which can execute or loosen, one text each, complete: the person accepts exactly these. Empty for most
 * projects, and then nothing was loaded for it.
 */
export async function projectItems(
  { projectRoot, projectWish, projectCheck, addDirs }: Surroundings,
  rules: RuleSet,
  gitPrograms: readonly GitProgram[],
): Promise<string[]> {
  const allowed = rules.rules.filter((rule) => rule.level === "project" && rule.effect === "allow");
  return [
    ...projectWish.hooks.flatMap(hookItems),
    ...projectWish.servers.flatMap(({ raw }) => serverItems(raw)),
    ...(await sharedServers(projectRoot)),
    ...allowed.map((rule) => `allow ${rule.text}`),
    ...addDirs.project.map((folder) => `addDirs ${folder}`),
    ...(projectCheck === undefined ? [] : [`team.check ${projectCheck}`]),
    ...(await definitionItems(projectRoot)),
    ...gitPrograms.map(programText),
  ];
}

function hookItems(hooks: unknown): string[] {
  if (!Array.isArray(hooks)) return [`hook ${JSON.stringify(hooks)}`];
  return hooks.map(hookItem);
}

export function hookItem(hook: unknown): string {
  if (!isRecord(hook) || !isRecord(hook.action)) return `hook ${JSON.stringify(hook)}`;
  const { event, action, ...others } = hook;
  const { type, command, ...more } = action;
  const isCommand = type === "command" && typeof command === "string";
  const rest = isCommand ? { ...others, ...more } : others;
  const what = isCommand ? command : JSON.stringify(action);
  return `hook ${String(event)}: ${what}${Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : ""}`;
}

function serverItems(servers: unknown): string[] {
  if (!isRecord(servers)) return [`server ${JSON.stringify(servers)}`];
  return Object.entries(servers).map(([name, server]) => serverItem(name, server));
}

export function serverItem(name: string, server: unknown): string {
  if (!isRecord(server)) return `server ${name}: ${JSON.stringify(server)}`;
  const { command, args = [], url, ...rest } = server;
  const words = [command ?? url, ...(Array.isArray(args) ? args : [args])].map(shown).join(" ");
  const others = command !== undefined && url !== undefined ? { ...rest, url } : rest;
  return `server ${name}: ${words}${Object.keys(others).length > 0 ? ` ${JSON.stringify(others)}` : ""}`;
}

/** Those of `.mcp.json`, the file that other programs share. One that can't be read starts nothing. */
async function sharedServers(projectRoot: string): Promise<string[]> {
  const { text } = await readOddFile(projectPaths(projectRoot).mcp);
  if (text === undefined) return [];
  try {
    const content: unknown = JSON.parse(text);
    return isRecord(content) && content.mcpServers !== undefined ? serverItems(content.mcpServers) : [];
  } catch {
    // Said where the servers are to be started.
    return [];
  }
}

/** Agents, skills and commands with tools, each bound to the whole of its file. */
async function definitionItems(projectRoot: string): Promise<string[]> {
  const items: string[] = [];
  for (const [name, kinds] of DEFINITIONS) {
    const folder = join(projectRoot, name);
    const there = new Set(await namesIn(folder));
    for (const kind of kinds.filter((one) => there.has(one))) {
      const files = (await namesIn(join(folder, kind), true)).filter((file) => /\.md$|(?:^|\/)tool\.json$/i.test(file)).sort();
      for (const file of files.slice(0, MAX_DEFINITIONS)) {
        const path = join(folder, kind, file);
        const { text = "" } = await readOddFile(path);
        const item = definitionItem(projectRoot, path, text);
        if (item !== undefined) items.push(item);
      }
      if (files.length > MAX_DEFINITIONS)
        items.push(`${files.length} files in ${name}/${kind}: ${files.length - MAX_DEFINITIONS} are not listed`);
    }
  }
  return items;
}

/** What one file of them brings that needs trust; undefined where it has only words. */
export function definitionItem(projectRoot: string, path: string, text: string): string | undefined {
  const [folder = "", kind = "", ...below] = relative(projectRoot, path).split(sep);
  const name = [...(folder === ".roocode" ? [] : [folder, kind]), ...below].join("/");
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 12);
  if (below.at(-1) === "tool.json") return kind === "skills" ? `skill tools ${name}: ${commandsOf(text)} (${hash})` : undefined;
  const head = /^\uFEFF?\s*---[ \t]*\r?\n([\s\S]*?)\r?\n(?:---|\.\.\.)/.exec(text)?.[1] ?? "";
  if (!BEARS_TOOLS.test(head)) return undefined;
  const lines = head.split(/\r?\n/).filter((line) => BEARS_TOOLS.test(line));
  return `${kind.slice(0, -1)} ${name}: ${lines.join("; ")} (${hash})`;
}

/** The command lines of a skill's own tools. */
function commandsOf(text: string): string {
  const lines = [...text.matchAll(/"command"\s*:\s*("(?:[^"\\]|\\.)*")/g)].map(([, line]) => line);
  return lines.join("; ");
}

async function namesIn(folder: string, recursive = false): Promise<string[]> {
  return readdir(folder, { recursive }).catch((error: unknown) => {
    if (isErrno(error, "ENOENT", "ENOTDIR", "EACCES")) return [];
    throw error;
  });
}

/** A word with blanks in it is one word. */
function shown(word: unknown): string {
  return typeof word === "string" && /^[^\s"'\\]+$/.test(word) ? word : JSON.stringify(word);
}

/** Why a skill stays off: the project brings tools with it that the person has not accepted. */
export function untrustedSkill(
  { file, level }: SkillSource,
  text: string,
  projectRoot: string,
  isAccepted: (item: string) => boolean,
): string | undefined {
  if (level !== "project") return undefined;
  const tools = isFolderSkill(file) ? join(dirname(file), "tool.json") : undefined;
  const items = [
    definitionItem(projectRoot, file, text),
    tools && existsSync(tools) ? definitionItem(projectRoot, tools, readFileSync(tools, "utf8")) : undefined,
  ];
  const isOff = items.some((item) => item !== undefined && !isAccepted(item));
  return isOff ? "is the project's and was not accepted (roocode --trust)" : undefined;
}
