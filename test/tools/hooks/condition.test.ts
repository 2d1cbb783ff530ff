import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Facts, holds, readCondition, Undecided } from "../../../src/tools/hooks/condition.ts";

const FACTS: Facts = {
  values: { event: "pre_tool_use", tool: "WriteFile", agent: "alice", agent_type: "worker", command: undefined },
  input: { path: "src/a.ts", content: "x = 1", options: { deep: true } },
  paths: ["/w/src/a.ts"],
  roots: ["/w"],
  home: "/home/me",
};
const isTrue = (text: string, facts: Partial<Facts> = {}) => holds(readCondition(text).expression, { ...FACTS, ...facts });
const after = { values: { ...FACTS.values, event: "post_tool_use" } };

describe("a condition", () => {
  test.each([
    ['tool == "WriteFile"', true],
    ['tool== "WriteFile"', true],
    ["tool == 'ReadFile'", false],
    ['tool != "WriteFile"', false],
    ['command == "x"', false],
    ['command != "x"', true],
    ['path matches "src/**"', true],
    ['path matches "*.ts"', true],
    ['path matches "/w/**/*.{js,ts}"', true],
    ['path matches "test/**"', false],
    ['path == "src/a.ts" && agent == "alice"', true],
    ["input.content =~ /X = \\d/i", true],
    ["input.content !~ /y/", true],
    ["input.options.deep", true],
    ["input.options.other", false],
    ["input.options.deep == true", true],
    ['!(tool == "ReadFile" || agent == "bob")', true],
    ['tool == "ReadFile" || tool == "WriteFile" && agent == "bob"', false],
    ['(tool == "ReadFile" || tool == "WriteFile") && agent == "alice"', true],
    ['agentType == "worker"', true],
    ["tool =~ /^(?:Write|Edit)$/", true],
  ])("%s is %s", (text, expected) => expect(isTrue(text)).toBe(expected));

  test("Claude Code's tool names mean all that they may mean before a call, and their namesake afterwards", () => {
    const edit = { ...FACTS.values, tool: "EditFile" };
    expect(isTrue('tool == "Write"', { values: edit })).toBe(true);
    expect(isTrue('tool == "Write"', { values: { ...edit, event: "post_tool_use" } })).toBe(false);
    expect(isTrue('tool == "Write"', after)).toBe(true);
  });

  test.each([
    ["", "it is empty"],
    ["tol == 1", 'there is no field "tol"'],
    ["tool ==", "it ends too early"],
    ["tool = 3", "nothing can be made of = 3"],
    ['tool == "a" tool', '"tool" stands where &&, || or the end should'],
    ['(tool == "a"', "it ends too early"],
    ["tool =~ /(/", "is no regular expression"],
    ["tool =~ /a/g", 'not "g"'],
    ['path matches ""', "stands for nothing"],
    [`${"(".repeat(100)}tool${")".repeat(100)}`, "nested deeper than 50"],
  ])("%s is refused with the reason", (text, reason) => expect(() => readCondition(text)).toThrow(reason));

  test("an unknown tool is a doubt, not an error", () => {
    expect(readCondition('tool == "Wrote" || tool == "mcp__a__b"').doubts).toEqual(['there is no tool "Wrote"']);
  });

  test("an expression that finds no end is undecided", () => {
    expect(() => isTrue("input.content =~ /^(a+)+$/", { input: { content: `${"a".repeat(50)}!` } })).toThrow(Undecided);
  });

  test("whatever stands there, it is read or refused with an Error", () => {
    const words = fc.constantFrom(
      "tool",
      "path",
      "matches",
      "==",
      "!=",
      "=~",
      "&&",
      "||",
      "!",
      "(",
      ")",
      '"a"',
      "/a/",
      "'",
      "1",
      "\\",
      "true",
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 12 }), (parts) => {
        try {
          expect(typeof holds(readCondition(parts.join(" ")).expression, FACTS)).toBe("boolean");
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
          expect(error).not.toBeInstanceOf(TypeError);
        }
      }),
    );
  });
});

describe("a glob", () => {
  const means = (field: "path" | "tool" | "command", text: string, glob: string) =>
    isTrue(`${field} matches ${JSON.stringify(glob)}`, { values: { [field]: text }, paths: field === "path" ? [text] : [] });

  test.each([
    ["/w/src/a/b.ts", "src/**", true],
    ["/w/src/a/b.ts", "src/*", false],
    ["/w/src/a/b.ts", "**/b.ts", true],
    ["/w/b.ts", "**/b.ts", true],
    ["/w/src/b.tsx", "src/?.ts*", true],
    ["/w/src/b.ts", "{lib,src}/*.{js,ts}", true],
    ["/w/a/src/b.ts", "src/**", false],
    ["/w/src/.env", ".env*", true],
    ["/home/me/x/y", "~/x/**", true],
    ["/w/src/a\nb/c\nd.ts", "src/**/*.ts", true],
  ])("path %j by %s: %s", (path, glob, expected) => expect(means("path", path, glob)).toBe(expected));

  test("of what is no path stands for the whole text, in which a slash is like any other character", () => {
    expect(means("tool", "mcp__git__push", "mcp__git__*")).toBe(true);
    expect(means("command", "git push origin a/../b", "git push *")).toBe(true);
    expect(means("command", "true; git push a/b", "git push *")).toBe(false);
    expect(means("command", "cat a/b", "cat a/*")).toBe(true);
  });

  test("that finds no end is undecided", () => {
    expect(() => means("path", `/w/${"a".repeat(300)}`, `${"*a".repeat(50)}x`)).toThrow(Undecided);
  });
});
