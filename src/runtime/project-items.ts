import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { isErrno, readOddFile } from "../platform/files.ts";
import { type GitProgram, programText } from "../platform/git-programs.ts";
import { projectPaths } from "../platform/paths.ts";
import { isRecord } from "../protocol/record.ts";
import type { RuleSet } from "../safety/rules.ts";
import { isFolderSkill, type SkillSource, skillSources } from "../tools/skills/skill-files.ts";
import type { Surroundings } from "./surroundings.ts";

const DEFINITIONS = [
  [".roocode", ["agents", "skills"]],
  [".claude", ["agents", "skills"]],
  [".agents", ["skills"]],
] as const;
/** Front matter by which an agent gets tools or runs something; what only has words needs no trust. */
const BEARS_TOOLS = ["allowed-tools", "tools", "permission-mode", "hooks", "mcp-servers"];
const MAX_DEFINITIONS = 500;

/**
 * All that a project brings which can execute or loosen, one text each, complete: the person accepts exactly these. Empty for most
 * projects, and then nothing was loaded for it.
 */
export async function projectItems(
  { projectRoot, projectWish, projectCheck, projectWorktree, addDirs }: Surroundings,
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
    ...Object.entries(projectWorktree).map(([name, command]) => `team.worktree.${name} ${command}`),
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

/** Agents with tools, and the tools that skills bring; each bound to the whole of its file. */
async function definitionItems(projectRoot: string): Promise<string[]> {
  const items: string[] = [];
  for (const [name, kinds] of DEFINITIONS) {
    const folder = join(projectRoot, name);
    const there = new Set(await namesIn(folder));
    for (const kind of kinds.filter((one) => there.has(one))) {
      const files = await bearingFiles(join(folder, kind), kind);
      for (const path of files.slice(0, MAX_DEFINITIONS)) {
        const { text = "" } = await readOddFile(path);
        const item = kind === "skills" ? skillItem(projectRoot, path, text) : await definitionItem(projectRoot, path, text);
        if (item !== undefined) items.push(item);
      }
      if (files.length > MAX_DEFINITIONS)
        items.push(`${files.length} files in ${name}/${kind}: ${files.length - MAX_DEFINITIONS} are not listed`);
    }
  }
  return items;
}

async function bearingFiles(folder: string, kind: "agents" | "skills"): Promise<string[]> {
  if (kind === "skills") {
    // By the reader that will use them, which goes through links.
    const skills = await skillSources([{ folder, level: "project", isOwn: true }]);
    return skills.flatMap(({ file }) => toolFile(file) ?? []);
  }
  return (await namesIn(folder, true))
    .filter((file) => file.endsWith(".md"))
    .sort()
    .map((file) => join(folder, file));
}

/** What one definition of an agent brings that needs trust; undefined where it has only words. */
export async function definitionItem(projectRoot: string, path: string, text: string): Promise<string | undefined> {
  const { fieldOf, readFrontMatter } = await import("../platform/front-matter.ts");
  // By the reader that will use it: what that finds in an odd place must not be overlooked here.
  const matter = readFrontMatter(text);
  const bearing = "refusal" in matter ? [] : BEARS_TOOLS.flatMap((field) => fieldOf(matter, field) ?? []);
  if (bearing.length === 0) return undefined;
  const shownFields = bearing.map(({ name, source }) => `${name}: ${source.replaceAll(/\s+/g, " ").trim()}`);
  return `${itemName(projectRoot, path)}: ${shownFields.join("; ")} (${shortHash(text)})`;
}

/**
 * The tools that a skill brings. What its `allowedTools` name needs no trust: such a list takes away and grants nothing.
 */
function skillItem(projectRoot: string, path: string, text: string): string {
  const lines = [...text.matchAll(/"command"\s*:\s*("(?:[^"\\]|\\.)*")/g)].map(([, line]) => line);
  return `${itemName(projectRoot, path)}: ${lines.join("; ")} (${shortHash(text)})`;
}

/** In a folder of another product the whole way, so that no two are one. */
function itemName(projectRoot: string, path: string): string {
  const [folder = "", kind = "", ...below] = relative(projectRoot, path).split(sep);
  return `${kind.slice(0, -1)} ${[...(folder === ".roocode" ? [] : [folder, kind]), ...below].join("/")}`;
}

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

function toolFile(skill: string): string | undefined {
  const file = isFolderSkill(skill) ? join(dirname(skill), "tool.json") : undefined;
  return file !== undefined && existsSync(file) ? file : undefined;
}

/** Why a skill stays off: the project brings tools with it that the person has not accepted. */
export async function untrustedSkill(
  projectRoot: string,
  isAccepted: (item: string) => boolean,
  { file, level }: SkillSource,
): Promise<string | undefined> {
  const tools = level === "project" ? toolFile(file) : undefined;
  if (tools === undefined) return undefined;
  const { text = "" } = await readOddFile(tools);
  if (isAccepted(skillItem(projectRoot, tools, text))) return undefined;
  return "brings tools (tool.json) that were not accepted for this folder; roocode --trust accepts them";
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
