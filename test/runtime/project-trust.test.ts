import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { trustQuestion } from "../../src/interaction/commands/offer-trust.ts";
import { projectRules } from "../../src/runtime/permissions.ts";
import { type GlobalFlags, readSurroundings } from "../../src/runtime/surroundings.ts";
import { acceptedItems } from "../../src/safety/trust.ts";
import { sampleRepository } from "../support/home.ts";
import { tempFolder } from "../support/temp.ts";

async function project(files: Record<string, string>) {
  const temp = await tempFolder();
  const [home, repo] = [join(temp.path, "home"), join(temp.path, "repo")];
  await mkdir(home);
  await sampleRepository(repo, { "a.txt": "a" });
  const put = async (path: string, text: string) => {
    await mkdir(dirname(join(repo, path)), { recursive: true });
    await writeFile(join(repo, path), text);
  };
  for (const [path, text] of Object.entries(files)) await put(path, text);
  return {
    repo,
    put,
    store: join(home, ".roocode", "trust.json"),
    surroundings: (flags: GlobalFlags = {}) => readSurroundings(repo, { HOME: home }, flags),
    rules: async (flags: GlobalFlags = {}) => projectRules(await readSurroundings(repo, { HOME: home }, flags)),
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

test("all that a project brings which can run or loosen is named whole; words alone and denials need no trust", async () => {
  await using made = await project({
    ".roocode/config.yaml": [
      "permission_mode: bypassPermissions",
      "hooks:",
      '  - {event: stop, if: \'tool == "Bash"\', action: {type: command, command: "make x", timeout: 5}}',
      "  - {event: stop, action: {type: http, url: 'http://h'}}",
      "mcpServers: {web: {url: 'https://x.example', headers: {A: b}}}",
      "permissions: {allow: ['Bash(make)'], deny: ['Bash(rm *)'], ask: [Edit]}",
      "team: {check: npm test}",
    ].join("\n"),
    ".mcp.json": JSON.stringify({ mcpServers: { db: { command: "sh", args: ["-c", "echo a b"], env: { K: "v" } } } }),
    // A list of a skill takes away; tools are what it brings.
    ".roocode/skills/words/SKILL.md": "---\nname: words\ndescription: d\nallowedTools: [ReadFile]\n---\nFormat.\n",
    ".claude/skills/fmt/SKILL.md": "---\nname: fmt\ndescription: d\n---\nFormat.\n",
    ".claude/skills/fmt/tool.json": '{"name": "fix", "description": "d", "command": "sh \\"$SKILL_DIR/fix\\""}',
    ".roocode/agents/plain.md": "---\nname: plain\n---\ntools: none of them\n",
    ".roocode/agents/odd.md": '\uFEFF\n\n---  \n"tools": [Bash]\n---\nHidden.\n',
  });
  const { items, isTrusted } = await made.rules();
  expect(isTrusted).toBe(false);
  expect(items.map((item) => item.replace(/\([0-9a-f]{12}\)$/, "(hash)"))).toEqual([
    'hook stop: make x {"if":"tool == \\"Bash\\"","timeout":5}',
    'hook stop: {"type":"http","url":"http://h"}',
    'server web: https://x.example {"headers":{"A":"b"}}',
    'server db: sh -c "echo a b" {"env":{"K":"v"}}',
    "allow Bash(make)",
    "team.check npm test",
    "agent odd.md: tools: [Bash] (hash)",
    'skill .claude/skills/fmt/tool.json: "sh \\"$SKILL_DIR/fix\\"" (hash)',
  ]);
  await using silent = await project({ ".roocode/config.yaml": "permissions: {deny: ['Bash(rm *)']}\n", ".mcp.json": "{" });
  expect(await silent.rules()).toMatchObject({ items: [], isTrusted: true });
});

test("a change after it was accepted asks again and shows the difference; what a text says can't look like another entry", async () => {
  await using made = await project({ ".roocode/config.yaml": "permissions: {allow: ['Bash(make)', 'Bash(ls)']}\n" });
  expect((await made.rules({ trust: true })).isTrusted).toBe(true);
  await made.put(".roocode/config.yaml", "permissions: {allow: ['Bash(make)', 'Bash(make *)']}\n");
  const { items, isTrusted } = await made.rules();
  expect(isTrusted).toBe(false);
  const question = trustQuestion(made.repo, items, ["mode bypassPermissions"], await acceptedItems(made.store, made.repo));
  expect(question.split("\n").slice(1, 5)).toEqual([
    "  allow Bash(make)",
    "+ allow Bash(make *)",
    "- allow Bash(ls)",
    "  mode bypassPermissions (ignored)",
  ]);
  const hook = 'hook stop: make {"timeout":5,"if":"tool == \\"Bash\\"","async":true,"x":["a b"]}';
  expect(trustQuestion("/p", [hook], [], undefined)).toContain(
    'hook stop: make {timeout: 5, if: "tool == \\"Bash\\"", async: true, x: [a b]}',
  );
  const twice = 'hook stop: make {"a":"rm -r x","a":"ls"}';
  expect(trustQuestion("/p", [twice], [], undefined)).toContain(twice);
  expect(trustQuestion("/p", ["hook stop: a\nallow Read"], [], undefined).split("\n")[2]).toBe("      | allow Read");
});

test("an allow rule that comes into an accepted project while the agent runs does not count", async () => {
  await using made = await project({ ".roocode/config.yaml": "permissions: {allow: ['Bash(make)']}\n" });
  const { rules, isTrusted } = await made.rules({ trust: true });
  await made.put(".roocode/config.yaml", "permissions: {allow: ['Bash(make)', 'Bash(*)'], deny: [Edit]}\n");
  expect(isTrusted).toBe(true);
  expect((await rules()).rules.map(({ effect, text }) => `${effect} ${text}`)).toEqual(["allow Bash(make)", "deny Edit"]);
});
