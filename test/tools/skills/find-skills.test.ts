import { symlink } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fieldText, readFrontMatter } from "../../../src/platform/front-matter.ts";
import { packageRoot } from "../../../src/platform/package.ts";
import { quickFields } from "../../../src/platform/quick-front-matter.ts";
import { findSkills } from "../../../src/tools/skills/find-skills.ts";
import { quickList } from "../../../src/tools/skills/quick-list.ts";
import type { SkillPlace } from "../../../src/tools/skills/skill-files.ts";
import { filesIn, skillText } from "../../support/skills.ts";

const trusting = async () => undefined;
const place = (folder: string, level: SkillPlace["level"], isOwn = true): SkillPlace => ({ folder, level, isOwn });
const plain = (name: string, description = "d.") => skillText({ name, description });

test("folders, single files and groups of them are found; what belongs to a skill is none", async () => {
  await using made = await filesIn({
    "a/SKILL.md": plain("a"),
    "a/references/SKILL.md": plain("inner"),
    "group/b/SKILL.md": plain("b"),
    "single.md": plain("single"),
    "README.md": "# Skills\n",
    "node_modules/x/SKILL.md": plain("x"),
    "deep/1/2/3/4/SKILL.md": plain("too-deep"),
  });
  const { skills, findings } = await findSkills([place(made.path, "user")], trusting);
  expect(skills.map(({ name }) => name)).toEqual(["a", "b", "single"]);
  expect(findings.map(({ verdict }) => verdict)).toEqual(["load", "load", "load"]);
});

test("of two with one name the project's counts before the person's; the other is named with a warning", async () => {
  await using made = await filesIn({ "project/x/SKILL.md": plain("x", "Mine."), "user/x/SKILL.md": plain("x", "Yours.") });
  const places = [place(join(made.path, "project"), "project"), place(join(made.path, "user"), "user")];
  const { skills, findings } = await findSkills(places, trusting);
  expect(skills.map(({ description, level }) => [description, level])).toEqual([["Mine.", "project"]]);
  expect(findings[1]).toMatchObject({
    verdict: "warn",
    reason: expect.stringContaining(`${join(made.path, "project/x/SKILL.md")} has the same name`),
  });
});

test("a linked folder is a skill; a link in a circle ends", async () => {
  await using made = await filesIn({ "elsewhere/a/SKILL.md": plain("a"), "skills/b/SKILL.md": plain("b") });
  await symlink(join(made.path, "elsewhere/a"), join(made.path, "skills/a"));
  await symlink(join(made.path, "skills"), join(made.path, "skills/round"));
  const { skills } = await findSkills([place(join(made.path, "skills"), "user")], trusting);
  expect(skills.map(({ name }) => name)).toEqual(["a", "b"]);
});

test("a folder that is missing, a file in its place and a file that can't be read cost nothing else", async () => {
  await using made = await filesIn({ "good/SKILL.md": plain("good"), "bad/SKILL.md": "---\nname: [\n", file: "" });
  await symlink(join(made.path, "nowhere"), join(made.path, "lost.md"));
  const places = [place(join(made.path, "missing"), "project"), place(join(made.path, "file"), "project"), place(made.path, "user")];
  const { skills, findings } = await findSkills(places, trusting);
  expect(skills.map(({ name }) => name)).toEqual(["good"]);
  expect(findings.filter(({ verdict }) => verdict === "refuse")).toEqual([
    expect.objectContaining({ name: "lost", reason: "is a link that leads nowhere" }),
    expect.objectContaining({ name: "bad", reason: expect.stringMatching(/^line 1: /) }),
  ]);
});

test("the quick list says what the whole reading says, or leaves it to that", async () => {
  await using made = await filesIn({
    "a/SKILL.md": plain("a", "First, and more."),
    "b.md": skillText({ description: "Second", when_to_use: "Now" }),
  });
  const places = [place(made.path, "user")];
  const whole = async () =>
    (await findSkills(places, trusting)).skills
      .filter(({ isForModel }) => isForModel)
      .map(({ name, description, whenToUse }) => ({ name, description, ...(whenToUse === undefined ? {} : { whenToUse }) }));
  expect(await quickList(places, trusting)).toEqual(await whole());
  await made.write("c/SKILL.md", plain("c", "Two: things"));
  expect(await quickList(places, trusting)).toBeUndefined();
});

test("the skills that RooCode brings are listed without the YAML parser, whose loading costs every start", async () => {
  const builtIn = [place(join(packageRoot(), "skills"), "built-in")];
  expect((await quickList(builtIn, trusting))?.map(({ name }) => name)).toEqual(["commit", "review", "test"]);
  const { findings } = await findSkills(builtIn, trusting);
  expect(findings.map(({ verdict, reason }) => [verdict, reason])).toEqual([
    ["load", ""],
    ["load", ""],
    ["load", ""],
  ]);
});

test("a head that is read without YAML has the fields that YAML finds, for any words", () => {
  const word = fc.string({ unit: fc.constantFrom(..."ab1- :#'\"|>{}[]&*!%@,.?\n\t~`é") });
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom("name", "description", "when_to_use", "tags"), word), { maxLength: 4 }), (fields) => {
      const text = `---\n\n${fields.map(([name, value]) => `${name}: ${value}\n`).join("")}---\nbody\n`;
      const quick = quickFields(text);
      if (!quick) return;
      const matter = readFrontMatter(text);
      if ("refusal" in matter) throw new Error(`refused: ${matter.refusal.text}`);
      expect(matter.problems).toEqual([]);
      for (const [name, value] of quick) expect(fieldText(matter, name)).toBe(value);
    }),
    { numRuns: 3_000, examples: ["1.", "1e1", "True", "null"].map((value) => [[["name", value]]]) },
  );
});
