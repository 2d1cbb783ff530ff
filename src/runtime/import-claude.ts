import { lstat, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isErrno, readOddFile } from "../platform/files.ts";
import { keepOutOfGit } from "../platform/git-exclude.ts";
import { projectPaths } from "../platform/paths.ts";
import { addToLists } from "../platform/yaml-lists.ts";
import { UserError } from "../protocol/errors.ts";
import { isRecord } from "../protocol/record.ts";
import { rulesFromClaude } from "../safety/rules-from-claude.ts";
import { hooksFromClaude } from "../tools/hooks/from-claude.ts";
import type { SettingsLevel } from "./settings.ts";
import type { Surroundings } from "./surroundings.ts";

export type ImportedFile = {
  level: SettingsLevel;
  from: string;
  to: string;
  /** What the file holds that can be had here, and how much of it was not there yet. */
  hooks: number;
  rules: number;
  added: number;
  /** What could not be taken over, and why. */
  left: string[];
};

/** Settings of Claude Code that have another place here, or that are of no use. */
const TAKEN = ["hooks", "permissions", "$schema"];

/** Hooks and permission rules of Claude Code's settings into ours, level by level. What is there already is not added again. */
export async function importClaude(surroundings: Surroundings, { dryRun }: { dryRun: boolean }): Promise<ImportedFile[]> {
  const { projectRoot, home, env, data, repository, isLocalForeign } = surroundings;
  const { config, localConfig } = projectPaths(projectRoot);
  const files: { level: SettingsLevel; from: string; to: string }[] = [
    { level: "user", from: join(env.CLAUDE_CONFIG_DIR ?? join(home, ".claude"), "settings.json"), to: data.config },
    { level: "project", from: join(projectRoot, ".claude", "settings.json"), to: config },
    { level: "local", from: join(projectRoot, ".claude", "settings.local.json"), to: localConfig },
  ];
  const imported: ImportedFile[] = [];
  for (const file of files) {
    const content = await readJson(file.from);
    if (content === undefined) continue;
    // What came with the repository must not become the person's own word by a copy.
    if (file.level === "local" && repository && !isLocalForeign && (await cameWith(projectRoot, file.from))) {
      file.level = "project";
      file.to = config;
    }
    if (file.level !== "user") await refuseLinkOut(projectRoot, file.to);
    imported.push(await importFile(content, file, dryRun));
  }
  return imported;
}

async function cameWith(top: string, file: string): Promise<boolean> {
  const { cameWithRepository } = await import("../platform/git.ts");
  return cameWithRepository(top, file);
}

/** A repository can bring a link that leads to the person's own settings. */
async function refuseLinkOut(projectRoot: string, to: string): Promise<void> {
  for (const path of [dirname(to), to]) {
    const real = await realpath(path).catch((error: unknown) => {
      if (isErrno(error, "ENOENT")) return undefined;
      throw error;
    });
    const isLink = (await lstat(path).catch(() => undefined))?.isSymbolicLink() ?? false;
    if (real === undefined ? isLink : !real.startsWith(`${projectRoot}/`))
      throw new UserError(
        `${path} is a link that leads out of ${projectRoot}, so nothing is imported into it. Remove the link, then import again.`,
      );
  }
}

async function importFile(
  content: Record<string, unknown>,
  file: Pick<ImportedFile, "level" | "from" | "to">,
  dryRun: boolean,
): Promise<ImportedFile> {
  const hooks = hooksFromClaude(content.hooks);
  const { left, ...rules } = rulesFromClaude(content.permissions);
  const others = Object.keys(content).filter((key) => !TAKEN.includes(key));
  const additions = [
    { path: ["hooks"], items: hooks.entries },
    ...Object.entries(rules).map(([effect, items]) => ({ path: ["permissions", effect], items })),
  ];
  const count = additions.reduce((sum, { items }) => sum + items.length, 0);
  const added = count === 0 ? 0 : await addToLists(file.to, additions, dryRun);
  if (added > 0 && file.level === "local" && !dryRun) await keepOutOfGit(file.to);
  return {
    ...file,
    hooks: hooks.entries.length,
    rules: count - hooks.entries.length,
    added,
    left: [...hooks.left, ...left, ...others.map((key) => `${key}: it is not taken over`)],
  };
}

async function readJson(path: string): Promise<Record<string, unknown> | undefined> {
  const { text, problem } = await readOddFile(path);
  if (problem) throw new UserError(`${path} ${problem}.`);
  if (text === undefined) return undefined;
  try {
    const content: unknown = JSON.parse(text);
    if (isRecord(content)) return content;
  } catch (error) {
    throw new UserError(
      `${path} is no JSON: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}. Mend it, then import again.`,
    );
  }
  throw new UserError(`${path} is no map of settings.`);
}
