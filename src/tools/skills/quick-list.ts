import { readOddFile } from "../../platform/files.ts";
import { quickFields } from "../../platform/quick-front-matter.ts";
import { type Refuse, type SkillPlace, skillSources, stemOf } from "./skill-files.ts";

export type ListedSkill = { name: string; description: string; whenToUse?: string };

/** What the first request tells of skills, read without the YAML parser; undefined where a file needs that, or a rule of names decides. */
export async function quickList(places: readonly SkillPlace[], refuse: Refuse): Promise<ListedSkill[] | undefined> {
  const sources = await skillSources(places);
  const texts = await Promise.all(sources.map(({ file }) => readOddFile(file)));
  const listed = new Map<string, ListedSkill>();
  for (const [index, source] of sources.entries()) {
    const { text } = texts[index] ?? {};
    const fields = text === undefined ? undefined : quickFields(text);
    const description = fields?.get("description");
    if (text === undefined || description === undefined || fields?.has("disable-model-invocation")) return undefined;
    const name = fields?.get("name") ?? stemOf(source.file);
    if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) || listed.has(name)) return undefined;
    if ((await refuse(source)) !== undefined) continue;
    const whenToUse = fields?.get("when_to_use");
    listed.set(name, { name, description, ...(whenToUse === undefined ? {} : { whenToUse }) });
  }
  return [...listed.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
