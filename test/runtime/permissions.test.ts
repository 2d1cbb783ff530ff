import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gitText } from "../../src/platform/git.ts";
import { projectRules } from "../../src/runtime/permissions.ts";
import { type GlobalFlags, readSurroundings } from "../../src/runtime/surroundings.ts";
import { sampleRepository } from "../support/home.ts";
import { tempFolder } from "../support/temp.ts";

const SETTINGS = 'permissions: {allow: ["Bash(make)"]}\naddDirs: [../beside]\n';

async function project(file: string, options: { isCommitted: boolean }) {
  const temp = await tempFolder();
  const [home, repo] = [join(temp.path, "home"), join(temp.path, "repo")];
  await mkdir(home);
  await sampleRepository(repo);
  await mkdir(join(repo, ".roocode"));
  await writeFile(join(repo, ".roocode", file), SETTINGS);
  if (options.isCommitted) await gitText(repo, ["add", "--force", "--all"]);
  return {
    beside: join(temp.path, "beside"),
    async read(flags: GlobalFlags = {}) {
      const { rules, isTrusted, addDirs, warnings } = await projectRules(await readSurroundings(repo, { HOME: home }, flags));
      return { levels: (await rules()).rules.map((rule) => rule.level), isTrusted, addDirs, warnings: warnings.length };
    },
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

test("what a project's settings allow is off until it is trusted, its folders too", async () => {
  await using made = await project("config.yaml", { isCommitted: true });
  expect(await made.read()).toEqual({ levels: ["project"], isTrusted: false, addDirs: [], warnings: 1 });
  const trusted = { levels: ["project"], isTrusted: true, addDirs: [made.beside], warnings: 0 };
  expect(await made.read({ trust: true })).toEqual(trusted);
  expect(await made.read()).toEqual(trusted);
});

test("a person's own local settings need no trust", async () => {
  await using made = await project("config.local.yaml", { isCommitted: false });
  expect(await made.read()).toEqual({ levels: ["local"], isTrusted: true, addDirs: [made.beside], warnings: 0 });
});

test("local settings that come with the repository count as the project's", async () => {
  await using made = await project("config.local.yaml", { isCommitted: true });
  expect(await made.read()).toEqual({ levels: ["project"], isTrusted: false, addDirs: [], warnings: 1 });
});

test("a relative --add-dir starts at the working folder", async () => {
  await using made = await project("worktree-include", { isCommitted: false });
  expect((await made.read({ addDir: ["../beside"] })).addDirs).toEqual([made.beside]);
});
