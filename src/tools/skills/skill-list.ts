import { escapeSystemTags } from "../../protocol/system-tags.ts";
import type { Skill } from "./skill.ts";

const LINE_CHARACTERS = 300;
const LIST_CHARACTERS = 12_000;

type Listed = Pick<Skill, "name" | "description" | "whenToUse">;

const FIRST = "Skills: instructions for kinds of tasks. When the user's request fits one, call LoadSkill with its name before you begin.";

/**
 * What a model is told of skills before it loads one: all of them, or those that `told`, the text of its conversation, does not hold as
 * they are now. Undefined for none.
 */
export function skillsReminder(all: readonly Listed[], told = ""): string | undefined {
  const known = new Set(told.split("\n"));
  const skills = all.filter((skill) => !known.has(skillLine(skill)) && !known.has(`- ${skill.name}`));
  if (skills.length === 0) return undefined;
  const lines: string[] = [];
  let room = LIST_CHARACTERS;
  for (const skill of skills) {
    const line = skillLine(skill);
    const fitting = line.length <= room ? line : `- ${skill.name}`;
    lines.push(fitting);
    room -= fitting.length;
  }
  const head = told.includes(FIRST) ? "New or changed skills:" : FIRST;
  return `<system-reminder>${head}\n${lines.join("\n")}\n</system-reminder>`;
}

export function skillLine({ name, description, whenToUse }: Listed): string {
  const what = description.trim();
  const end = whenToUse === undefined || /[.!?。！？]$/.test(what) ? "" : ".";
  const words = `${what}${end} ${whenToUse ?? ""}`.replaceAll(/\s+/g, " ").trim();
  const short = words.length > LINE_CHARACTERS ? `${words.slice(0, LINE_CHARACTERS - 1).trimEnd()}…` : words;
  return escapeSystemTags(`- ${name}: ${short}`);
}
