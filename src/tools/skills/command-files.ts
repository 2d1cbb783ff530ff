import { readdir } from "node:fs/promises";
import { join, sep } from "node:path";
import { isErrno, readOddFile } from "../../platform/files.ts";
import { type FrontMatter, fieldList, fieldOf, fieldText, oddForm, readFrontMatter } from "../../platform/front-matter.ts";
import type { FoundSkills, SkillFinding } from "./find-skills.ts";
import { allowedTools, modelRemark, modeOf, type ReadSkill, type Skill, skillName, typeRemark } from "./skill.ts";
import type { SkillPlace, SkillSource } from "./skill-files.ts";

const MAX_DESCRIPTION = 120;

/** Prompts that people keep as files: `deploy/staging.md` is typed as `/deploy:staging`. Of two with one name the earlier place counts. */
export async function findCommands(places: readonly SkillPlace[]): Promise<FoundSkills> {
  const skills = new Map<string, Skill>();
  const findings: SkillFinding[] = [];
  for (const { folder, level, isOwn } of places) {
    for (const path of await markdownFiles(folder)) {
      const source = { file: join(folder, path), level, isOwn };
      const name = skillName(path.replace(/\.md$/i, "").split(sep).join(":"));
      const found = await readCommand(source, name);
      const { file } = source;
      if ("refusal" in found) findings.push({ file, name, verdict: "refuse", reason: found.refusal });
      else {
        const other = skills.get(name);
        const remarks = [...(other ? [`${other.file} has the same name and counts`] : []), ...found.remarks];
        if (!other) skills.set(name, found.skill);
        findings.push({ file, name, verdict: remarks.length > 0 ? "warn" : "load", reason: remarks.join("; ") });
      }
    }
  }
  return { skills: [...skills.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), findings };
}

async function markdownFiles(folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder, { recursive: true });
    return names.filter((name) => /\.md$/i.test(name) && !/(?:^|[/\\])readme\.md$/i.test(name)).sort();
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR", "EACCES", "ELOOP")) return [];
    throw error;
  }
}

async function readCommand(source: SkillSource, name: string): Promise<NonNullable<ReadSkill>> {
  const { text, problem } = await readOddFile(source.file);
  if (text === undefined) return { refusal: problem ?? "is gone" };
  const matter = readFrontMatter(text);
  if ("refusal" in matter) return { refusal: `line ${matter.refusal.line}: ${matter.refusal.text}` };
  if (matter.body === "") return { refusal: "there is nothing in it to send" };
  const remarks = [...oddForm(text), ...matter.problems.map((one) => `line ${one.line}: ${one.text}`), ...runsRemark(matter)];
  const allowed = allowedTools(matter, remarks);
  remarks.push(...["name", "description"].flatMap((field) => typeRemark(matter, field)), ...modelRemark(matter));
  const model = fieldText(matter, "model");
  const argumentHint = fieldText(matter, "argument-hint");
  return {
    skill: {
      ...source,
      name,
      description: fieldText(matter, "description") ?? firstLine(matter.body),
      tags: fieldList(matter, "tags") ?? [],
      ...(allowed ? { allowedTools: allowed } : {}),
      mode: modeOf(matter, remarks),
      ...(model === undefined || model === "inherit" ? {} : { model }),
      ...(argumentHint === undefined ? {} : { argumentHint }),
      isForModel: false,
      isForPerson: true,
      body: matter.body,
    },
    remarks,
  };
}

/** Claude Code runs what stands in !`…` before it sends the text; here nothing runs that no permission layer saw. */
function runsRemark(matter: FrontMatter): string[] {
  const line = fieldOf(matter, "allowed-tools")?.line ?? 1;
  return /!`[^`]+`/.test(matter.body) ? [`line ${line}: commands in !\`…\` are not run, they are sent as text`] : [];
}

function firstLine(body: string): string {
  const line = body.split("\n").find((one) => one.trim() !== "") ?? "";
  const words = line.replace(/^#+\s*/, "").trim();
  return words.length > MAX_DESCRIPTION ? `${words.slice(0, MAX_DESCRIPTION - 1)}…` : words;
}
