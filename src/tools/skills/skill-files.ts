import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isErrno } from "../../platform/files.ts";

type SkillLevel = "project" | "user" | "built-in";
/** A folder that may hold skills. Of two skills with one name that of the earlier place counts. */
export type SkillPlace = { folder: string; level: SkillLevel; isOwn: boolean };
/** Where a file was found; `isOwn`: in a folder of RooCode's, where its own fields need no remark. */
export type SkillSource = { file: string; level: SkillLevel; isOwn: boolean };
/** Why a file may not be used; undefined when it may. */
export type Refuse = (source: SkillSource) => Promise<string | undefined>;

/** Below a skill folder lies what belongs to the skill; above it people group them. */
const MAX_DEPTH = 4;

/** All files that may be skills, those of the first place first. */
export async function skillSources(places: readonly SkillPlace[]): Promise<SkillSource[]> {
  const found = await Promise.all(
    places.map(async ({ folder, level, isOwn }) => (await skillFiles(folder)).map((file) => ({ file, level, isOwn }))),
  );
  return found.flat();
}

/** What a skill is called when it does not say: its folder, or its file. */
export function stemOf(file: string): string {
  return isFolderSkill(file) ? basename(dirname(file)) : basename(file).replace(/\.md$/i, "");
}

export function isFolderSkill(file: string): boolean {
  return basename(file).toLowerCase() === "skill.md";
}

/** Files of one folder: `<skill>/SKILL.md` at any depth that people use, and single files of its own. */
async function skillFiles(folder: string, depth = 0): Promise<string[]> {
  const entries = await entriesOf(folder);
  const skill = entries.find(({ name }) => name.toLowerCase() === "skill.md");
  if (skill) return [join(folder, skill.name)];
  const single =
    depth === 0 ? entries.filter(({ name }) => /\.md$/i.test(name) && !/^readme\b/i.test(name)).map(({ name }) => join(folder, name)) : [];
  const below =
    depth < MAX_DEPTH ? entries.filter((entry) => entry.mayBeFolder && entry.name !== "node_modules" && entry.name !== ".git") : [];
  const deeper = await Promise.all(below.map(({ name }) => skillFiles(join(folder, name), depth + 1)));
  return [...single, ...deeper.flat()];
}

async function entriesOf(folder: string): Promise<{ name: string; mayBeFolder: boolean }[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    // A link may lead to a folder: people link the skills of another product.
    return entries
      .map((entry) => ({ name: entry.name, mayBeFolder: entry.isDirectory() || entry.isSymbolicLink() }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR", "EACCES", "ELOOP")) return [];
    throw error;
  }
}
