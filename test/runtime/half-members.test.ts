import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commitAll } from "../../src/platform/commit.ts";
import { addWorktree, restoreWorktree } from "../../src/platform/worktree.ts";
import { dropHalfMembers } from "../../src/runtime/half-members.ts";
import { createMemoryTeam } from "../../src/team/bus/memory.ts";
import { sampleMember, sampleTeam } from "../team/bus/sample-team.ts";
import { git, teamGround, write } from "../team/converge/team-ground.ts";

/** bob's git was killed while it made his worktree: git has it locked, and what is there is not whole. */
const LEFT: Record<string, (repo: string, worktree: string, branch: string) => void> = {
  "the worktree is locked and its folder is gone": (repo, worktree) => {
    write(repo, { ".git/worktrees/bob/locked": "initializing" });
    rmSync(worktree, { recursive: true });
  },
  "the worktree is locked and half full": (repo, worktree) => {
    write(repo, { ".git/worktrees/bob/locked": "initializing", ".git/worktrees/bob/index.lock": "" });
    rmSync(join(worktree, "f.txt"));
  },
  "there is only the lock of the branch": (repo, worktree, branch) => {
    git(repo, "worktree", "remove", worktree);
    git(repo, "branch", "-D", branch);
    write(repo, { [`.git/refs/heads/${branch}.lock`]: "" });
  },
};

test.each(Object.entries(LEFT))("a member whose making was killed can be made again: %s", async (_what, leave) => {
  await using ground = await teamGround({ members: ["bob"] });
  const [path, branch] = [ground.worktreeOf("bob"), ground.branchOf("bob")];
  const baseCommit = git(ground.repo, "rev-parse", "main");
  leave(ground.repo, path, branch);
  const info = { ...sampleMember("bob"), worktreePath: path, branch, baseCommit };
  const team = createMemoryTeam({ ...sampleTeam(), members: [info] });
  const { roster } = team.open({ name: "lead", epoch: 1 });
  const place = { teamFolder: join(ground.repo, "..", "none"), primary: ground.repo, worktreeLock: ground.lock, needs: ground.needs };
  expect(await dropHalfMembers(roster, place)).toEqual(["bob"]);
  expect(git(ground.repo, "worktree", "list").split("\n")).toHaveLength(1);
  await addWorktree({ primary: ground.repo, path, branch, commit: baseCommit, lockPath: ground.lock });
  write(path, { "f.txt": "bob's\n" });
  expect(await commitAll(path, { subject: "bob" })).toBe(git(ground.repo, "rev-parse", branch));
});

test("a worktree whose restoring was killed is restored by the next try", async () => {
  await using ground = await teamGround({ members: ["bob"] });
  const [path, branch] = [ground.worktreeOf("bob"), ground.branchOf("bob")];
  LEFT["the worktree is locked and its folder is gone"]?.(ground.repo, path, branch);
  await restoreWorktree({ primary: ground.repo, path, branch, lockPath: ground.lock });
  expect(git(path, "status", "--porcelain")).toBe("");
});

test("a worktree is added where a killed git left its locked record, and a branch of that name that was there stays", async () => {
  await using ground = await teamGround({ members: ["bob"] });
  const { repo, lock: lockPath } = ground;
  const [path, branch, commit] = [ground.worktreeOf("bob"), ground.branchOf("bob"), git(ground.repo, "rev-parse", "main")];
  LEFT["the worktree is locked and its folder is gone"]?.(repo, path, branch);
  await addWorktree({ primary: repo, path, branch: "fresh", commit, lockPath });
  expect(git(path, "symbolic-ref", "--short", "HEAD")).toBe("fresh");
  await expect(addWorktree({ primary: repo, path: `${path}-2`, branch, commit, lockPath })).rejects.toThrow(/already exists/);
  expect(git(repo, "rev-parse", branch)).toBe(commit);
});
