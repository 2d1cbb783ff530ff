import type { OpenedSession } from "../../runtime/open-session.ts";
import type { Skill } from "../../tools/skills/skill.ts";
import { distance } from "../distance.ts";

type HasSkills = Pick<OpenedSession, "skills">;

/** What the person may call by name beside RooCode's own commands: skills, and command files where no skill has that name. Read anew each time. */
export async function typedPrompts({ skills }: HasSkills): Promise<Skill[]> {
  const [found, commands] = await Promise.all([skills.find(), skills.findCommands()]);
  const names = new Set(found.skills.map(({ name }) => name));
  return [...found.skills.filter(({ isForPerson }) => isForPerson), ...commands.skills.filter(({ name }) => !names.has(name))];
}

export async function findPrompt(name: string, session: HasSkills): Promise<Skill | undefined> {
  return (await typedPrompts(session)).find((skill) => skill.name === name);
}

/** One line that says what there is instead; of a file of that name that can't be used, why. */
export async function noSuchCommand(name: string, own: readonly string[], session: HasSkills): Promise<string> {
  const [found, commands] = await Promise.all([session.skills.find(), session.skills.findCommands()]);
  const refused = [...found.findings, ...commands.findings].find((finding) => finding.verdict === "refuse" && finding.name === name);
  if (refused) return `/${name} can't be used: ${refused.file}: ${refused.reason}.`;
  const names = [...own, ...(await typedPrompts(session)).map((skill) => skill.name)];
  const near = names
    .map((other) => ({ other, far: other.startsWith(name) ? 0 : distance(name.toLowerCase(), other.toLowerCase()) }))
    .filter(({ far }, _, all) => far <= Math.floor(name.length / 2) && far === Math.min(...all.map((one) => one.far)))
    .slice(0, 3)
    .map(({ other }) => `/${other}`);
  return `There is no command /${name}. ${near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "/help lists them."}`;
}
