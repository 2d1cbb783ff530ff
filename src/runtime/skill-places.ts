import { join } from "node:path";
import { packageRoot } from "../platform/package.ts";
import type { SkillPlace } from "../tools/skills/skill-files.ts";
import type { Surroundings } from "./surroundings.ts";

/** Folders of other products that hold the same kind of file. */
const SHARED = [".claude", ".agents"];

/** Where skills are looked for: the project's count before the person's, and these before those that RooCode brings. */
export function skillPlaces({ projectRoot, home, data }: Pick<Surroundings, "projectRoot" | "home" | "data">): SkillPlace[] {
  const places: SkillPlace[] = [
    { folder: join(projectRoot, ".roocode", "skills"), level: "project", isOwn: true },
    ...SHARED.map((name): SkillPlace => ({ folder: join(projectRoot, name, "skills"), level: "project", isOwn: false })),
    { folder: join(data.root, "skills"), level: "user", isOwn: true },
    ...SHARED.map((name): SkillPlace => ({ folder: join(home, name, "skills"), level: "user", isOwn: false })),
    { folder: join(packageRoot(), "skills"), level: "built-in", isOwn: true },
  ];
  // In the home itself both are one: what the person put there is the person's.
  return places.filter(
    ({ folder, level }) => level !== "project" || !places.some((other) => other.folder === folder && other.level === "user"),
  );
}
