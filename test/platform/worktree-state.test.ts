import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { notIn, tipsOf } from "../../src/platform/ancestry.ts";
import { worktreeState } from "../../src/platform/worktree-state.ts";
import { git, teamGround, write } from "../team/converge/team-ground.ts";

test("a worktree's state has HEAD, branch and every path as it is spelled", async () => {
  await using ground = await teamGround({ members: ["alice"], files: { "f.txt": "1\n", "a b.txt": "1\n", ".gitignore": "*.log\n" } });
  const path = ground.worktreeOf("alice");
  const head = git(path, "rev-parse", "HEAD");
  expect(await worktreeState(path)).toEqual({ head, branch: ground.branchOf("alice"), entries: [] });
  rmSync(join(path, "f.txt"));
  write(path, { "a b.txt": "2\n", "new é\n2.txt": "n\n", "x y.log": "l\n" });
  const { entries } = await worktreeState(path, ["--ignored=traditional"]);
  expect(entries).toEqual([
    { kind: "changed", path: "a b.txt" },
    { kind: "changed", path: "f.txt" },
    { kind: "untracked", path: "new é\n2.txt" },
    { kind: "ignored", path: "x y.log" },
  ]);
  git(path, "checkout", "--quiet", "--detach");
  expect((await worktreeState(path)).branch).toBeUndefined();
  await expect(worktreeState(join(path, ".."))).rejects.toThrow(/not a git repository/);
});

test("a path in conflict is told apart", async () => {
  await using ground = await teamGround({ members: ["alice", "bob"], files: { "f f.txt": "1\n" } });
  for (const name of ["alice", "bob"]) ground.commit(name, { "f f.txt": `${name}\n` });
  expect(() => git(ground.worktreeOf("alice"), "merge", "--quiet", ground.branchOf("bob"))).toThrow();
  expect((await worktreeState(ground.worktreeOf("alice"))).entries).toEqual([{ kind: "unmerged", path: "f f.txt" }]);
});

test("commits that a branch has not are found together, also beside one that is no commit at all", async () => {
  await using ground = await teamGround({ members: ["alice", "bob"] });
  const [alice, bob] = [ground.commit("alice", { "a.txt": "a\n" }), ground.commit("bob", { "b.txt": "b\n" })];
  git(ground.repo, "merge", "--quiet", ground.branchOf("bob"));
  const tips = await tipsOf(ground.repo, [ground.branchOf("alice"), ground.branchOf("bob"), "nobody"]);
  expect([...tips]).toEqual([
    [ground.branchOf("alice"), alice],
    [ground.branchOf("bob"), bob],
  ]);
  expect(await notIn(ground.repo, [...tips.values()], "refs/heads/main")).toEqual(new Set([alice]));
  const none = "0".repeat(39).concat("1");
  expect(await notIn(ground.repo, [alice, bob, none], "refs/heads/main")).toEqual(new Set([alice, none]));
  expect(await notIn(ground.repo, [alice, bob], "refs/heads/gone")).toEqual(new Set([alice, bob]));
});
