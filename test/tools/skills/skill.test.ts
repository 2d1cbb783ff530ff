import { expect, test } from "vitest";
import { readSkill, type Skill } from "../../../src/tools/skills/skill.ts";
import { skillText } from "../../support/skills.ts";

const SOURCE = { file: "/p/.claude/skills/two/SKILL.md", level: "project", isOwn: false } as const;

function read(text: string): { skill: Skill; remarks: string[] } {
  const found = readSkill(text, SOURCE);
  if (!found || "refusal" in found) throw new Error(`not read: ${found?.refusal}`);
  return found;
}

function refusal(text: string): string | undefined {
  const found = readSkill(text, SOURCE);
  return found && "refusal" in found ? found.refusal : undefined;
}

test("a file by the rules loads without a remark", () => {
  const { skill, remarks } = read(skillText({ name: "two", description: "Does two things." }, "Body."));
  expect(remarks).toEqual([]);
  expect(skill).toMatchObject({
    name: "two",
    description: "Does two things.",
    mode: "inline",
    isForModel: true,
    isForPerson: true,
    body: "Body.",
    folder: "/p/.claude/skills/two",
  });
  expect(skill.allowedTools).toBeUndefined();
});

test("F-01: a colon in a description costs a remark with its line, not the skill", () => {
  const { skill, remarks } = read(skillText({ name: "two", description: "Two modes: fast and safe" }));
  expect(skill.description).toBe("Two modes: fast and safe");
  expect(remarks).toEqual([expect.stringMatching(/^line 3: no valid YAML/)]);
});

test("F-03: values of another type are taken as text and named; tools come as text or as a list", () => {
  const odd = read(skillText({ name: "42", description: "true", "argument-hint": "[file: a | b]" }));
  expect(odd.skill).toMatchObject({ name: "42", description: "true", argumentHint: "[file: a | b]" });
  expect(odd.remarks.filter((remark) => remark.includes("is no text to YAML"))).toHaveLength(2);
  for (const tools of ["ReadFile, Grep", "ReadFile Grep", "[ReadFile, Grep]", "\n  - ReadFile\n  - Grep"])
    expect(read(skillText({ name: "two", description: "d", allowedTools: tools })).skill.allowedTools).toEqual(["ReadFile", "Grep"]);
  expect(read(skillText({ name: "two", description: "d", applyTo: "**/*.ts" })).skill.description).toBe("d");
});

test("tools go by other products' names too; a name that nobody knows grants nothing and is said", () => {
  const { skill, remarks } = read(
    skillText({ name: "two", description: "d", "allowed-tools": "Read, Bash(git add *), Frobnicate, mcp__db__find" }),
  );
  expect(skill.allowedTools).toEqual(["ReadFile", "Bash(git add *)", "mcp__db__find"]);
  expect(remarks).toEqual(['line 4: there is no tool "Frobnicate"']);
  expect(read(skillText({ name: "two", description: "d", "allowed-tools": '"*"' })).skill.allowedTools).toBeUndefined();
  expect(read(skillText({ name: "two", description: "d", "allowed-tools": "[]" })).skill.allowedTools).toEqual([]);
});

test("context: fork is mode: fork; a mode that is none counts as inline and is named with its line", () => {
  expect(read(skillText({ name: "two", description: "d", context: "fork" })).skill.mode).toBe("fork");
  const { skill, remarks } = read(skillText({ name: "two", description: "d", mode: "apart" }));
  expect(skill.mode).toBe("inline");
  expect(remarks).toContain('line 4: mode "apart" is neither inline nor fork; it counts as inline');
});

test("what breaks the standard is a remark: name, length, fields, form", () => {
  const long = "x".repeat(1100);
  const { remarks } = read(
    `\uFEFF${skillText({ name: "Two Things", description: long, color: "red", model: "gpt-5" }).replaceAll("\n", "\r\n")}`,
  );
  for (const words of [
    "byte order mark",
    "line ends",
    "not that of its folder",
    "small letters",
    "1100 characters",
    "color",
    'model "gpt-5"',
  ])
    expect(remarks.filter((remark) => remark.includes(words))).toHaveLength(1);
});

test("what can't be used is refused with line and reason", () => {
  expect(refusal("# Only words\n")).toBe("line 1: there is no front matter (--- name: … description: … ---)");
  expect(refusal(skillText({ name: "two" }))).toBe("line 1: there is no description");
  expect(refusal("---\nname: two\ndescription:\n---\nx\n")).toBe("line 3: there is no description");
  expect(refusal("---\nname: two\ndescription: [a, b]\n---\nx\n")).toBe("line 3: the description is a list or mapping, no text");
  expect(refusal("---\nname: two\n")).toMatch(/^line 1: .*not closed/);
  expect(refusal("---\n{{{ ]\n---\nx\n")).toMatch(/^line 2: no valid YAML/);
});

test("F-04: documents that lie beside skills are no skills", () => {
  const beside = { ...SOURCE, file: "/p/.claude/skills/NOTES.md" };
  expect(readSkill("# Notes\n", beside)).toBeUndefined();
  expect(readSkill("# Notes\n", { ...beside, isOwn: true })).toMatchObject({ refusal: expect.stringContaining("no front matter") });
  expect(readSkill("# Changes\n", { ...beside, file: "/p/.roocode/skills/CHANGELOG.md", isOwn: true })).toBeUndefined();
});
