import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git, mergeAll, read, teamGround } from "./team-ground.ts";

/** The first git whose arguments fit does `first` in the shell (`$real` is git itself) instead. */
function trap(folder: string, pattern: string, first: string): AsyncDisposable & { sprung: () => boolean } {
  const bin = join(folder, "bin");
  const once = join(bin, "once");
  mkdirSync(bin);
  const real = join(git(folder, "--exec-path"), "git");
  writeFileSync(
    join(bin, "git"),
    `#!/bin/sh
real='${real}'
case "$*" in *${pattern}*) [ -f '${once}' ] || { : > '${once}'; ${first}
} ;; esac
exec "$real" "$@"
`,
  );
  chmodSync(join(bin, "git"), 0o755);
  const path = process.env.PATH;
  process.env.PATH = `${bin}:${path}`;
  return {
    sprung: () => existsSync(once),
    [Symbol.asyncDispose]: async () => {
      process.env.PATH = path;
    },
  };
}

const LOCKED = (ref: string) =>
  `lock=$("$real" rev-parse --path-format=absolute --git-path ${ref}).lock; mkdir -p "\${lock%/*}"; : > "$lock"; kill -9 $$`;

test.each([
  ["its worktree list", "'worktree list'", "kill -9 $$"],
  ["the new worktree", "'worktree add'", "kill -9 $$"],
  ["the new worktree, when it was made", "'worktree add'", '"$real" "$@"; kill -9 $$'],
  ["what it accepted, with its lock in place", "'update-ref refs/worktree/roocode-accepted'", LOCKED("refs/worktree/roocode-accepted")],
  ["the mark of a landing, with its lock in place", "'update-ref refs/worktree/roocode-landing'", LOCKED("refs/worktree/roocode-landing")],
  ["the dry run of a merge", "merge-tree", "kill -9 $$"],
  ["what is merged", "rev-list", "kill -9 $$"],
  ["the last reset, with its lock in place", "'reset --hard'", LOCKED("index")],
])("the git that is killed once for %s stops no convergence", async (_what, pattern, first) => {
  await using ground = await teamGround({ members: ["alice", "bob"], files: { "f.txt": "one\n", "g.txt": "one\n" } });
  ground.commit("alice", { "f.txt": "alice\n" });
  ground.commit("bob", { "g.txt": "bob\n" });
  await using trapped = trap(join(ground.repo, ".."), pattern, first);
  const report = await ground.converge(mergeAll(ground, "alice", "bob"));
  expect(trapped.sprung()).toBe(true);
  expect(report).toMatchObject({ exitCode: 0, unmerged: [] });
  expect([read(ground.repo, "f.txt"), read(ground.repo, "g.txt")]).toEqual(["alice\n", "bob\n"]);
});

test("a landing on a branch that is checked out nowhere survives the end of its git, before and after it did it", async () => {
  for (const first of [LOCKED("refs/heads/main"), '"$real" "$@"; kill -9 $$']) {
    await using ground = await teamGround({ members: ["alice"] });
    ground.commit("alice", { "f.txt": "alice\n" });
    git(ground.repo, "switch", "--quiet", "--detach");
    await using trapped = trap(join(ground.repo, ".."), "'roocode: team converged'", first);
    expect(await ground.converge(mergeAll(ground, "alice"))).toMatchObject({ exitCode: 0, unmerged: [] });
    expect(trapped.sprung()).toBe(true);
    expect(git(ground.repo, "show", "main:f.txt")).toBe("alice");
  }
});

test("a person who switches to another branch just before the landing has that one left alone", async () => {
  await using ground = await teamGround({ members: ["alice"] });
  ground.commit("alice", { "f.txt": "alice\n" });
  const main = git(ground.repo, "rev-parse", "main");
  git(ground.repo, "branch", "mine");
  await using trapped = trap(
    join(ground.repo, ".."),
    "'update-ref refs/worktree/roocode-landing'",
    `"$real" -C '${ground.repo}' switch --quiet mine`,
  );
  const report = await ground.converge(mergeAll(ground, "alice"));
  expect(trapped.sprung()).toBe(true);
  expect(report.landProblem).toContain(`main is not checked out in ${ground.repo} any more`);
  expect(["main", "mine"].map((branch) => git(ground.repo, "rev-parse", branch))).toEqual([main, main]);
  expect(git(ground.repo, "status", "--porcelain")).toBe("");
  expect(await ground.converge(mergeAll(ground))).toMatchObject({ landed: { branch: "main" } });
});
