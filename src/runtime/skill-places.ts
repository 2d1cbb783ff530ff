import { join } from "node:path";
import { packageRoot } from "../platform/package.ts";
import type { SkillPlace } from "../tools/skills/skill-files.ts";
import { untrustedSkill } from "./project-items.ts";
import { Skills } from "./skills.ts";
import type { Surroundings } from "./surroundings.ts";

/** Folders of other products that hold the same kind of file. */
type Places = Pick<Surroundings, "projectRoot" | "home" | "data">;
const SHARED = [".claude", ".agents"];

/** The skills of a conversation that begins. */
export function openSkills(surroundings: Places, isAccepted: (item: string) => boolean): Skills {
  return new Skills(skillPlaces(surroundings), commandPlaces(surroundings), (source) =>
    untrustedSkill(surroundings.projectRoot, isAccepted, source),
  );
}

/** Where skills are looked for: the project's count before the person's, and these before those that RooCode brings. */
export function skillPlaces(surroundings: Places): SkillPlace[] {
  return [...placesOf("skills", surroundings), { folder: join(packageRoot(), "skills"), level: "built-in", isOwn: true }];
}

export function commandPlaces(surroundings: Places): SkillPlace[] {
  return [...placesOf("commands", surroundings), { folder: join(packageRoot(), "commands"), level: "built-in", isOwn: true }];
}

function placesOf(kind: "skills" | "commands", { projectRoot, home, data }: Places): SkillPlace[] {
  const places: SkillPlace[] = [
    { folder: join(projectRoot, ".roocode", kind), level: "project", isOwn: true },
    ...SHARED.map((name): SkillPlace => ({ folder: join(projectRoot, name, kind), level: "project", isOwn: false })),
    { folder: join(data.root, kind), level: "user", isOwn: true },
    ...SHARED.map((name): SkillPlace => ({ folder: join(home, name, kind), level: "user", isOwn: false })),
  ];
  // In the home itself both are one: what the person put there is the person's.
  return places.filter(
    ({ folder, level }) => level !== "project" || !places.some((other) => other.folder === folder && other.level === "user"),
  );
}
