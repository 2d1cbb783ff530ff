import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ruleReader } from "../../src/safety/rule-files.ts";
import { tempFolder } from "../support/temp.ts";

async function read(text: string) {
  await using temp = await tempFolder("broken");
  const project = join(temp.path, "config.yaml");
  await mkdir(temp.path, { recursive: true });
  await writeFile(project, text);
  const { rules, warnings } = await ruleReader({ user: join(temp.path, "none"), project, local: join(temp.path, "none") })();
  return {
    rules: rules.map((rule) => `${rule.effect} ${rule.text}`),
    sources: rules.map((rule) => rule.source?.replace(`${project}:`, "")),
    warnings: warnings.map((warning) => warning.replaceAll(project, "F")),
  };
}

test("O-01: at the first start too, a file that does not parse keeps its deny and ask rules and loses its allow rules", async () => {
  const { rules, sources, warnings } = await read(`permissions:
  allow:
    - Bash(mkdir *
    - Bash(npm test)
  deny:
    # allow: [Bash(git pull *)]
    - Bash(git push *)   # never
    - "Read(.env)"
    - WebFetch
  ask: ['Bash(npm publish *)', Edit(package.json)]
model: "opus
`);
  expect(rules).toEqual(["deny Bash(git push *)", "deny Read(.env)", "deny WebFetch", "ask Bash(npm publish *)", "ask Edit(package.json)"]);
  expect(sources).toEqual(["7", "8", "9", "10", "10"]);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(
    /^F:\d+: .*Its allow rules are off until it is mended; the 5 deny and ask rules that could be read count\.$/s,
  );
});

test("the rule that is itself broken is taken as far as it can be read", async () => {
  expect((await read("permissions:\n  deny: ['Bash(git push *)', \"Read(secret\n")).rules).toEqual([
    "deny Bash(git push *)",
    "deny Read(secret)",
  ]);
  expect((await read('{"permissions": {"allow": ["Bash"], "deny": ["Bash(rm *)", "Edit(/a(b)/**)"],, }}\n')).rules).toEqual([
    "deny Bash(rm *)",
    "deny Edit(/a(b)/**)",
  ]);
  expect((await read("permissions:\n\tdeny:\n\t  - Bash(rm *)\n\tallow:\n\t  - Bash(ls)\n")).rules).toEqual(["deny Bash(rm *)"]);
});

test("what is no rule is not taken for one, and a file without any says so", async () => {
  const { rules, warnings } = await read('team:\n  deny-list: Bash\nhooks:\n  - Bash(x)\nmodel: "opus\n');
  expect(rules).toEqual([]);
  expect(warnings[0]).toContain("no deny or ask rule could be read from it");
});

test("O-03: a prohibition without its dash counts and is named, and a rule for a tool that is not there is named with its line", async () => {
  const { rules, warnings } = await read("permissions:\n  deny: Bash(git push *)\n  allow:\n    - Bsh(ls)\n");
  expect(rules).toEqual(["allow Bsh(ls)", "deny Bash(git push *)"]);
  expect(warnings).toEqual([
    'F:4: The rule "allow Bsh(ls)" covers nothing: there is no tool "Bsh".',
    'F:2: "permissions.deny" is not a list of texts. The other rules of the file count.',
  ]);
});

test("O-03: an empty file, one with only a comment and one without permissions are fine", async () => {
  for (const text of ["", "\n", "# nothing\n", "model: opus\n", "permissions:\n", "permissions:\n  allow:\n"]) {
    const { rules, warnings } = await read(text);
    expect([text, rules, warnings]).toEqual([text, [], text === "permissions:\n" ? warnings : []]);
  }
});

test("O-03: aliases that stand for more than fits are a file that does not parse, not the end of the run", async () => {
  const levels = Array.from({ length: 8 }, (_, level) => `l${level + 1}: &l${level + 1} [${Array(9).fill(`*l${level}`).join(", ")}]`);
  const { rules, warnings } = await read(["l0: &l0 x", ...levels, "permissions:", "  deny:", "    - Bash(git push *)", ""].join("\n"));
  expect(rules).toEqual(["deny Bash(git push *)"]);
  expect(warnings[0]).toContain("Excessive alias count");
});

test("O-03: a rule for the web that can cover nothing is named", async () => {
  const void_ = ["example.com", "domain:https://example.com", "domain:example.com/", "domain:example.com:*", "domain:"];
  const good = ["domain:example.com", "domain:*.example.com:80", "domain:*", "domain:[::1]", "https://example.com/*", "*", "http*"];
  const { warnings } = await read(`permissions:\n  deny:\n${[...void_, ...good].map((spec) => `    - "WebFetch(${spec})"\n`).join("")}`);
  expect(warnings.map((one) => /"deny WebFetch\((.*)\)"/.exec(one)?.[1])).toEqual(void_);
});
