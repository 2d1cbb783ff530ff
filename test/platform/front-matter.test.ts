import { expect, test } from "vitest";
import { type FrontMatter, fieldFlag, fieldList, fieldOf, fieldText, readFrontMatter } from "../../src/platform/front-matter.ts";

function read(text: string): FrontMatter {
  const found = readFrontMatter(text);
  if ("refusal" in found) throw new Error(`refused: ${found.refusal.text}`);
  return found;
}

const head = (yaml: string, body = "Do it.") => read(`---\n${yaml}\n---\n${body}\n`);

test("fields and body of a plain file, whatever its line ends and mark; one spelling stands for all", () => {
  const matter = read("\uFEFF---\r\nname: a\r\nallowed-tools: [Bash]\r\n---\r\nFirst.\r\n\r\nSecond.\r\n");
  expect(fieldText(matter, "name")).toBe("a");
  expect(fieldList(matter, "allowedTools")).toEqual(["Bash"]);
  expect(fieldOf(matter, "allowed_tools")?.line).toBe(3);
  expect(matter).toMatchObject({ isThere: true, body: "First.\n\nSecond.", problems: [] });
});

test("a file without a head is body only; one whose head is not closed is refused with its line", () => {
  expect(read("Do $ARGUMENTS\n---\nmore")).toMatchObject({ isThere: false, body: "Do $ARGUMENTS\n---\nmore" });
  expect(readFrontMatter("\n---\nname: a\n")).toEqual({ refusal: { line: 2, text: expect.stringContaining("not closed") } });
  expect(readFrontMatter("---\n- a\n- b\n---\n")).toEqual({ refusal: { line: 2, text: expect.stringContaining("name: value") } });
  expect(readFrontMatter("---\n: : {\n---\n")).toMatchObject({ refusal: { line: 2 } });
  expect(read("---\n---\nbody")).toMatchObject({ isThere: true, body: "body", problems: [] });
});

test("F-01: a colon in a description: the whole sentence is kept, and the line is named", () => {
  const matter = head("name: two\ndescription: Two modes: fast and safe\ntools: Bash");
  expect(fieldText(matter, "description")).toBe("Two modes: fast and safe");
  expect(fieldList(matter, "tools")).toEqual(["Bash"]);
  expect(matter.problems).toEqual([{ line: 3, text: expect.stringContaining("no valid YAML") }]);
});

test("a block of text that runs on without its indent is kept as one text, without the sign that began it", () => {
  const matter = head("name: two\ndescription: |\n  Fast.\nOr: safe: both");
  expect(fieldText(matter, "description")).toBe("Fast. Or: safe: both");
});

test("F-03: values of another type become text; lists come in every spelling", () => {
  const matter = head("name: 42\ndescription: true\nargument-hint: [file: a | b]\nmode: null\ntags:\n  - 1\n  - two");
  expect(fieldText(matter, "name")).toBe("42");
  expect(fieldText(matter, "description")).toBe("true");
  expect(fieldText(matter, "argument-hint")).toBe("[file: a | b]");
  expect(fieldText(matter, "mode")).toBeUndefined();
  expect(fieldList(matter, "tags")).toEqual(["1", "two"]);
  const odd = head("name: x\ndescription: d\napplyTo: **/*.ts\nargument-hint: [a] | [b]");
  expect(fieldText(odd, "applyTo")).toBe("**/*.ts");
  expect(fieldText(odd, "argument-hint")).toBe("[a] | [b]");
  const lists: [string, string[] | undefined][] = [
    ["ReadFile, Grep", ["ReadFile", "Grep"]],
    ["ReadFile Grep", ["ReadFile", "Grep"]],
    ["Bash(git add *), Bash(npm run test)", ["Bash(git add *)", "Bash(npm run test)"]],
    ["Bash(git add *) Read", ["Bash(git add *)", "Read"]],
    ['["Read", "Bash(a, b)"]', ["Read", "Bash(a, b)"]],
    ["'*'", ["*"]],
    ["*", ["*"]],
    ["Bash(git:*)", ["Bash(git:*)"]],
    ["", undefined],
    ["[]", []],
  ];
  for (const [written, expected] of lists) expect(fieldList(head(`name: x\ntools: ${written}`), "tools"), written).toEqual(expected);
  expect(fieldList(head("tools:\n  - Bash(git: x)\n  - Read"), "tools")).toEqual(["Bash(git: x)", "Read"]);
});

test("a description that runs on over raw lines keeps those that look like fields of their own", () => {
  const matter = head('name: helper\ndescription: Use it when: asked\n  user: "please"\nuser: hello\ncontext-free: yes\nmodel: opus');
  expect(fieldText(matter, "description")).toBe('Use it when: asked user: "please" user: hello context-free: yes');
  expect(fieldText(matter, "model")).toBe("opus");
});

test("what is given twice counts once, tabs and aliases without end stop nothing", () => {
  expect(fieldText(head("name: a\ndescription: first\nname: b"), "name")).toBe("a");
  expect(fieldList(head("name: a\ntools:\n\t- Bash\n\t- Grep"), "tools")?.join(" ")).toContain("Bash");
  const bomb = `name: a\nx0: &x0 [1]\n${Array.from({ length: 30 }, (_, n) => `x${n + 1}: &x${n + 1} [*x${n}, *x${n}]`).join("\n")}`;
  expect(readFrontMatter(`---\n${bomb}\n---\n`)).toMatchObject({ problems: [{ text: expect.stringContaining("alias") }] });
});

test("truth values", () => {
  const matter = head("background: yes\nisolation: false\nmemory: maybe");
  expect([fieldFlag(matter, "background"), fieldFlag(matter, "isolation"), fieldFlag(matter, "memory"), fieldFlag(matter, "x")]).toEqual([
    true,
    false,
    "odd",
    undefined,
  ]);
});
