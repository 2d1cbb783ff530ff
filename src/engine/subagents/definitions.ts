import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { isErrno, readOddFile } from "../../platform/files.ts";
import { type DefinitionFields, type ReadDefinition, readDefinition } from "./definition-file.ts";

type DefinitionLevel = "project" | "user" | "built-in";
export type DefinitionFolder = {
  path: string;
  level: DefinitionLevel;
  /** Names of the files that count, without their ending; all when absent. */
  only?: readonly string[];
  /** A reason in words when a file, with this text, may not be used. */
  isOff?: (file: string, text: string) => Promise<string | undefined>;
};
export type AgentDefinition = DefinitionFields & { level: DefinitionLevel; file: string };
/** What became of one file; a README is not among them. */
export type DefinitionReport = { file: string; name: string; verdict: "load" | "warn" | "refuse"; reason: string };
export type Definitions = { agents: ReadonlyMap<string, AgentDefinition>; reports: readonly DefinitionReport[] };

const MAX_FILES = 2_000;
const NOT_LOOKED_INTO = /(^|\/)(\.git|node_modules)(\/|$)/;

/**
 * All definitions of sub-agents, read anew; an earlier folder comes before a later one, and of one folder the first file by name. A
 * name is found without regard to case.
 */
export async function loadDefinitions(folders: readonly DefinitionFolder[]): Promise<Definitions> {
  const agents = new Map<string, AgentDefinition>();
  const reports: DefinitionReport[] = [];
  for (const folder of folders) {
    for (const file of await definitionFiles(folder)) {
      const read = await readOne(file, folder);
      if (!read) continue;
      const { name, verdict, reason, off } = read;
      const first = agents.get(name.toLowerCase());
      if (verdict === "refuse") reports.push({ file, name, verdict, reason });
      else if (off !== undefined) reports.push({ file, name, verdict: "warn", reason: `${file}: ${off}` });
      else if (first)
        reports.push({ file, name, verdict: "warn", reason: `${file}: "${name}" is taken by ${first.file}; this one is not used.` });
      else {
        agents.set(name.toLowerCase(), { ...read.fields, level: folder.level, file });
        reports.push({ file, name, verdict, reason });
      }
    }
  }
  return { agents, reports };
}

type Read = ReadDefinition & { off?: string | undefined };

async function readOne(file: string, { isOff }: DefinitionFolder): Promise<Read | undefined> {
  const { text, problem } = await readOddFile(file);
  if (problem !== undefined) return { name: basename(file, ".md"), verdict: "refuse", reason: `${file} ${problem}.` };
  // Gone since the folder was read.
  if (text === undefined) return undefined;
  const read = readDefinition(text, file);
  return read && { ...read, off: await isOff?.(file, text) };
}

/** Markdown files of the folder and below it, by name. A skill's file is none. */
async function definitionFiles({ path, only }: DefinitionFolder): Promise<string[]> {
  if (only) return only.map((name) => join(path, `${name}.md`));
  const names = await readdir(path, { recursive: true }).catch((error: unknown) => {
    if (isErrno(error, "ENOENT", "ENOTDIR", "EACCES")) return [];
    throw error;
  });
  return names
    .filter((name) => /\.md$/i.test(name) && !NOT_LOOKED_INTO.test(name) && !/(^|\/)SKILL\.md$/.test(name))
    .sort()
    .slice(0, MAX_FILES)
    .map((name) => join(path, name));
}
