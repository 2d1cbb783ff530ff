import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gitText } from "../../src/platform/git.ts";
import { findRepository } from "../../src/platform/repository.ts";
import { sampleRepository } from "../support/home.ts";
import { tempFolder } from "../support/temp.ts";

test("a linked worktree belongs to its primary checkout, wherever in it one stands", async () => {
  await using temp = await tempFolder();
  const [main, linked] = [join(temp.path, "main"), join(temp.path, "linked")];
  await sampleRepository(main, { "src/a.txt": "a" });
  await gitText(main, ["worktree", "add", "--quiet", "-b", "side", linked]);
  expect(findRepository(join(linked, "src"))).toEqual({ top: linked, primary: main, branch: "side" });
});

test("a pointer to a repository that does not name this folder gives it none of that repository's trust", async () => {
  await using temp = await tempFolder();
  const [main, linked] = [join(temp.path, "main"), join(temp.path, "linked")];
  await sampleRepository(main, { "a.txt": "a" });
  await gitText(main, ["worktree", "add", "--quiet", "-b", "side", linked]);
  const primaryOf = async (name: string, files: Record<string, string>) => {
    const folder = join(temp.path, name);
    for (const [path, text] of Object.entries(files)) {
      await mkdir(join(folder, path, ".."), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    expect(findRepository(folder)?.top).toBe(folder);
    return findRepository(folder)?.primary;
  };
  const common = `${main}/.git`;
  const own = (name: string) => join(temp.path, name);
  expect(await primaryOf("direct", { ".git": `gitdir: ${common}\n` })).toBe(own("direct"));
  expect(await primaryOf("borrowed", { ".git": `gitdir: ${common}/worktrees/linked\n` })).toBe(own("borrowed"));
  const fake = { ".git": "gitdir: ./fake\n", "fake/commondir": `${common}\n`, "fake/HEAD": "ref: refs/heads/main\n" };
  expect(await primaryOf("fake", { ...fake, "fake/gitdir": `${own("fake")}/.git\n` })).toBe(own("fake"));
  expect(findRepository(linked)?.primary).toBe(main);
});

test("a worktree of a bare repository, or of a submodule, is its own primary checkout", async () => {
  await using temp = await tempFolder();
  const main = join(temp.path, "main");
  await sampleRepository(main, { "a.txt": "a" });
  for (const name of ["repo.git", "project/.bare"]) {
    await gitText(temp.path, ["clone", "--quiet", "--bare", main, name]);
    const linked = join(temp.path, `${name}-main`);
    await gitText(join(temp.path, name), ["worktree", "add", "--quiet", linked, "main"]);
    expect(findRepository(linked)).toEqual({ top: linked, primary: linked, branch: "main" });
  }
  await gitText(main, ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", join(temp.path, "repo.git"), "sub"]);
  const linked = join(temp.path, "sub-side");
  await gitText(join(main, "sub"), ["worktree", "add", "--quiet", "-b", "side", linked]);
  expect(findRepository(linked)).toEqual({ top: linked, primary: linked, branch: "side" });
});
