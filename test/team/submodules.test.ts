import { existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { cleanTeam } from "../../src/team/clean.ts";
import { equipWorktree } from "../../src/team/worktree-needs.ts";
import { sampleMember } from "./bus/sample-team.ts";
import { type Ground, git, mergeAll, read, teamGround, write } from "./converge/team-ground.ts";

/** A repository whose submodule `vendor/lib` has a submodule `deep`; nothing of them can be fetched again. */
async function groundWithSubmodules() {
  const ground = await teamGround({ members: [] });
  const folder = dirname(ground.repo);
  const allow = ["-c", "protocol.file.allow=always", "-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
  for (const [name, inner] of [["deep"], ["lib", "deep"]]) {
    const repo = join(folder, name ?? "");
    git(folder, "init", "--quiet", "--initial-branch=main", repo);
    write(repo, { [`${name}.txt`]: `${name}\n` });
    if (inner) git(repo, ...allow, "submodule", "--quiet", "add", join(folder, inner), inner);
    git(repo, "add", "--all");
    git(repo, ...allow, "commit", "--quiet", "--message=first");
  }
  git(ground.repo, ...allow, "submodule", "--quiet", "add", join(folder, "lib"), "vendor/lib");
  git(ground.repo, ...allow, "submodule", "--quiet", "update", "--init", "--recursive");
  git(ground.repo, "commit", "--quiet", "--message=submodule");
  for (const name of ["lib", "deep"]) rmSync(join(folder, name), { recursive: true });
  return ground;
}

/** A member's worktree, equipped as a spawn does it; gives what is said. */
async function enter(ground: Ground, name: string): Promise<string[]> {
  const path = ground.worktreeOf(name);
  git(ground.repo, "worktree", "add", "--quiet", "-b", ground.branchOf(name), path, "main");
  const baseCommit = git(ground.repo, "rev-parse", "main");
  const info = { ...sampleMember(name), worktreePath: path, branch: ground.branchOf(name), baseCommit };
  await ground.bus.roster.update((team) => ({ ...team, members: [...team.members, info] }));
  return (await equipWorktree({ primary: ground.repo, path, needs: ground.needs }, new AbortController().signal)).notes;
}

function clean({ bus, repo, worktrees, lock, needs }: Ground, force = false) {
  return cleanTeam({ bus, primary: repo, checkout: repo, worktrees, worktreeLock: lock, needs, force });
}

test("submodules of a worktree, and theirs, are filled from the primary checkout without asking their addresses, which stay", async () => {
  await using ground = await groundWithSubmodules();
  const config = git(ground.repo, "config", "--local", "--list");
  expect(await enter(ground, "alice")).toEqual([]);
  const path = ground.worktreeOf("alice");
  expect([read(path, "vendor/lib/lib.txt"), read(path, "vendor/lib/deep/deep.txt")]).toEqual(["lib\n", "deep\n"]);
  expect(git(path, "status", "--porcelain")).toBe("");
  expect(git(join(path, "vendor/lib"), "remote", "get-url", "origin")).toBe(join(dirname(ground.repo), "lib"));
  expect(git(ground.repo, "config", "--local", "--list")).toBe(config);
  expect(git(ground.repo, "status", "--porcelain")).toBe("");
  // Work beside the submodule converges, and nothing of all that is left.
  ground.commit("alice", { "a.txt": "a\n" });
  expect((await ground.converge(mergeAll(ground, "alice"))).exitCode).toBe(0);
  expect(await clean(ground)).toMatchObject({ removed: ["alice"], kept: [] });
  expect(existsSync(ground.worktrees)).toBe(false);
  expect(git(ground.repo, "worktree", "list").split("\n")).toHaveLength(1);
});

test("a submodule that the primary checkout has not is named with the command that would fill it, and is no change", async () => {
  await using ground = await groundWithSubmodules();
  rmSync(join(ground.repo, ".git", "modules", "vendor"), { recursive: true });
  const [note, ...more] = await enter(ground, "alice");
  expect(note).toMatch(
    /^The submodule vendor\/lib is empty in .*alice: .*git submodule update --init --recursive -- vendor\/lib.*team\.worktree\.setup/,
  );
  expect(more).toEqual([]);
  expect(git(ground.worktreeOf("alice"), "status", "--porcelain")).toBe("");
});

test("a recorded commit that the primary checkout's copy lacks leaves the submodule empty and unchanged", async () => {
  await using ground = await groundWithSubmodules();
  git(ground.repo, "update-index", "--cacheinfo", `160000,${"1".repeat(40)},vendor/lib`);
  git(ground.repo, "commit", "--quiet", "--message=moved");
  const notes = await enter(ground, "alice");
  expect(notes.join()).toContain("your checkout has no commit 1111111111 of it");
  expect(git(ground.worktreeOf("alice"), "status", "--porcelain")).toBe("");
});

test("an edit, a new file and a commit in a submodule each keep their worktree, by force too", async () => {
  await using ground = await groundWithSubmodules();
  for (const name of ["alice", "bob", "carol"]) await enter(ground, name);
  const submodule = (name: string) => join(ground.worktreeOf(name), "vendor/lib");
  write(submodule("alice"), { "lib.txt": "edited\n" });
  write(submodule("bob"), { "deep/new.txt": "new\n" });
  write(submodule("carol"), { "lib.txt": "committed\n" });
  git(submodule("carol"), "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "--quiet", "--all", "--message=own");
  for (const force of [false, true]) {
    const cleaned = await clean(ground, force);
    expect(cleaned).toMatchObject({ removed: [], kept: ["alice", "bob", "carol"] });
    for (const [name, path] of Object.entries({ alice: "vendor/lib/", bob: "vendor/lib/deep/", carol: "vendor/lib/" }))
      expect(cleaned.text).toContain(`${name}: kept, since ${path} in ${ground.worktreeOf(name)}`);
  }
  expect(read(submodule("carol"), "lib.txt")).toBe("committed\n");
});
