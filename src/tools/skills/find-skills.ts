import { relative } from "node:path";
import { readOddFile } from "../../platform/files.ts";
import { type ReadSkill, readSkill, type Skill } from "./skill.ts";
import { type Refuse, type SkillPlace, type SkillSource, skillSources, stemOf } from "./skill-files.ts";

/** What became of a file; `reason` is empty for one that just loads. */
export type SkillFinding = { file: string; name: string; verdict: "load" | "warn" | "refuse"; reason: string };
export type FoundSkills = { skills: Skill[]; findings: SkillFinding[] };

const MAX_BYTES = 1_000_000;

/** Reads all places anew: a file that was added or changed since counts from now on. */
export async function findSkills(places: readonly SkillPlace[], refuse: Refuse): Promise<FoundSkills> {
  const sources = await skillSources(places);
  const read = await Promise.all(sources.map((source) => readSource(source, refuse)));
  const skills = new Map<string, Skill>();
  const findings: SkillFinding[] = [];
  for (const [index, found] of read.entries()) {
    const file = sources[index]?.file ?? "";
    if (!found) continue;
    if ("refusal" in found) findings.push({ file, name: stemOf(file), verdict: "refuse", reason: found.refusal });
    else findings.push(shadowed(found, skills));
  }
  return { skills: [...skills.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), findings };
}

async function readSource(source: SkillSource, refuse: Refuse): Promise<ReadSkill> {
  const { text, problem } = await readOddFile(source.file);
  if (text === undefined) return { refusal: problem ?? "is gone" };
  if (text.length > MAX_BYTES) return { refusal: `has more than ${MAX_BYTES} characters` };
  const refusal = await refuse(source);
  return refusal === undefined ? readSkill(text, source) : { refusal };
}

function shadowed({ skill, remarks }: { skill: Skill; remarks: string[] }, skills: Map<string, Skill>): SkillFinding {
  const { file, name } = skill;
  const other = skills.get(name);
  if (other) return { file, name, verdict: "warn", reason: [`${other.file} has the same name and counts`, ...remarks].join("; ") };
  skills.set(name, skill);
  return { file, name, verdict: remarks.length > 0 ? "warn" : "load", reason: remarks.join("; ") };
}

/** For people: below the folder they are in, the path from there. */
export function shownPath(file: string, cwd: string): string {
  const path = relative(cwd, file);
  return path.startsWith("..") ? file : path;
}
