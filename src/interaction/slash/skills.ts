import { shownPath } from "../../tools/skills/find-skills.ts";
import { skillLine } from "../../tools/skills/skill-list.ts";
import type { SlashCommand } from "./command.ts";

export const skillsCommand: SlashCommand = {
  name: "skills",
  type: "local",
  describe: "Skills that can be used here, and files that can't",
  anyTime: true,
  async run(_argument, { session, print }) {
    const { skills, findings } = await session.skills.find();
    const lines = skills.map((skill) => `${skillLine(skill)} (${skill.level}${skill.mode === "fork" ? ", works apart" : ""})`);
    const refused = findings
      .filter(({ verdict }) => verdict === "refuse")
      .map(({ file, reason }) => `${shownPath(file, session.surroundings.cwd)} is off: ${reason}`);
    print([...lines, ...refused].join("\n"));
    return undefined;
  },
};
