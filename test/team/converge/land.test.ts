import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git, mergeAll, mergeCommand, read, teamGround, write } from "./team-ground.ts";

test("G03: an untracked file in the way stops the landing; file and branch stay", async () => {
  await using ground = await teamGround({ members: ["alice"] });
  const tip = ground.commit("alice", { "new.txt": "alice's\n" });
  write(ground.repo, { "new.txt": "mine\n" });
  const before = git(ground.repo, "rev-parse", "main");
  const report = await ground.converge(mergeAll(ground, "alice"));
  expect(report.exitCode).toBe(1);
  expect(report.landed).toBeUndefined();
  expect(report.text).toContain("new.txt is not tracked by git, and alice added a file of that name");
  expect(report.text).toContain(`merge --ff-only ${git(ground.integration, "rev-parse", "HEAD")}`);
  expect(read(ground.repo, "new.txt")).toBe("mine\n");
  expect([git(ground.repo, "rev-parse", "main"), git(ground.repo, "rev-parse", ground.branchOf("alice"))]).toEqual([before, tip]);
});

test.each([
  ["a folder of the user's where a file is to be", { "x/mine.txt": "mine\n" }, { x: "file\n" }, "x/mine.txt"],
  ["a file of the user's where a folder is to be", { x: "mine\n" }, { "x/deep/a.txt": "a\n" }, "x is not tracked"],
])("G03: %s", async (_what, mine, theirs, named) => {
  await using ground = await teamGround({ members: ["alice"] });
  ground.commit("alice", theirs);
  write(ground.repo, mine);
  const report = await ground.converge(mergeAll(ground, "alice"));
  expect(report.exitCode).toBe(1);
  expect(report.landProblem).toContain(named);
  for (const [path, content] of Object.entries(mine)) expect(read(ground.repo, path)).toBe(content);
});

test("G03: an ignored file of the user's is not overwritten by one that a member committed", async () => {
  await using ground = await teamGround({ members: ["alice"], files: { ".gitignore": ".env\n", "f.txt": "one\n" } });
  write(ground.worktreeOf("alice"), { ".env": "SECRET=alice\n" });
  git(ground.worktreeOf("alice"), "add", "--force", ".env");
  git(ground.worktreeOf("alice"), "commit", "--quiet", "--message=env");
  write(ground.repo, { ".env": "SECRET=mine\n" });
  const report = await ground.converge(mergeAll(ground, "alice"));
  expect(report.landProblem).toContain(".env is ignored by git");
  expect(read(ground.repo, ".env")).toBe("SECRET=mine\n");
});

test("G04: a dirty file that a member changed too stops the landing, named; a staged one likewise", async () => {
  await using ground = await teamGround({ members: ["alice"], files: { "f.txt": "one\n", "g.txt": "one\n", "h.txt": "one\n" } });
  ground.commit("alice", { "f.txt": "alice\n", "g.txt": "alice\n" });
  write(ground.repo, { "f.txt": "mine\n", "g.txt": "mine\n" });
  git(ground.repo, "add", "g.txt");
  const before = git(ground.repo, "status", "--porcelain");
  const report = await ground.converge(mergeAll(ground, "alice"));
  expect(report.exitCode).toBe(1);
  expect(report.landProblem).toContain("f.txt has changes of yours that are not committed, and alice changed it too.");
  expect(report.landProblem).toContain("g.txt has changes of yours");
  expect(git(ground.repo, "status", "--porcelain")).toBe(before);
  expect(git(ground.repo, "stash", "list")).toBe("");
});

test("G04: dirty, staged and untracked files that nobody else touched survive the landing byte for byte", async () => {
  await using ground = await teamGround({ members: ["alice"], files: { "f.txt": "one\n", "g.txt": "one\n", "h.txt": "one\n" } });
  ground.commit("alice", { "f.txt": "alice\n" });
  write(ground.repo, { "g.txt": "mine\n", "h.txt": "staged\n", "notes.txt": "notes\n" });
  git(ground.repo, "add", "h.txt");
  const report = await ground.converge(mergeAll(ground, "alice"));
  expect(report.exitCode).toBe(0);
  expect(["f.txt", "g.txt", "h.txt", "notes.txt"].map((path) => read(ground.repo, path))).toEqual([
    "alice\n",
    "mine\n",
    "staged\n",
    "notes\n",
  ]);
  expect(git(ground.repo, "status", "--porcelain")).toBe("M g.txt\nM  h.txt\n?? notes.txt");
  expect(git(ground.repo, "stash", "list")).toBe("");
});

test("a branch that moves while the merging goes on is left alone: exit 3, with the commit to merge", async () => {
  await using ground = await teamGround({ members: ["alice"] });
  ground.commit("alice", { "a.txt": "a\n" });
  const report = await ground.converge(async (bash) => {
    await bash(mergeCommand(ground, "alice"));
    git(ground.repo, "commit", "--quiet", "--allow-empty", "--message=meanwhile");
    return "";
  });
  expect(report.exitCode).toBe(3);
  expect(report.landProblem).toContain(`git merge ${report.merged[0]?.commit}`);
  expect(git(ground.repo, "log", "-1", "--format=%s", "main")).toBe("meanwhile");
  expect((await ground.converge(mergeAll(ground, "alice"))).exitCode).toBe(0);
});

test("a user who switched to another branch keeps checkout and files; the team's branch moves", async () => {
  await using ground = await teamGround({ members: ["alice"] });
  ground.commit("alice", { "a.txt": "a\n" });
  git(ground.repo, "switch", "--quiet", "--create", "other");
  write(ground.repo, { "a.txt": "mine\n", "f.txt": "dirty\n" });
  const report = await ground.converge(mergeAll(ground, "alice"));
  expect(report).toMatchObject({ exitCode: 0, landed: { branch: "main" } });
  expect(git(ground.repo, "show", "main:a.txt")).toBe("a");
  expect([read(ground.repo, "a.txt"), read(ground.repo, "f.txt")]).toEqual(["mine\n", "dirty\n"]);
  expect(git(ground.repo, "rev-parse", "--abbrev-ref", "HEAD")).toBe("other");
});

test("a branch that is checked out in another worktree takes its files along there", async () => {
  await using ground = await teamGround({ members: ["alice"] });
  ground.commit("alice", { "a.txt": "a\n" });
  git(ground.repo, "switch", "--quiet", "--create", "other");
  const elsewhere = join(ground.repo, "..", "elsewhere");
  git(ground.repo, "worktree", "add", "--quiet", elsewhere, "main");
  expect((await ground.converge(mergeAll(ground, "alice"))).exitCode).toBe(0);
  expect(read(elsewhere, "a.txt")).toBe("a\n");
  expect(git(elsewhere, "status", "--porcelain")).toBe("");
  expect(existsSync(join(ground.repo, "a.txt"))).toBe(false);
});

test.each(["--squash", "--no-commit", "--no-ff"])(
  "the person's own merge options for the branch (%s) do not change the landing",
  async (option) => {
    await using ground = await teamGround({ members: ["alice"] });
    ground.commit("alice", { "a.txt": "a\n" });
    git(ground.repo, "config", "branch.main.mergeOptions", option);
    expect(await ground.converge(mergeAll(ground, "alice"))).toMatchObject({ exitCode: 0, landed: { branch: "main" } });
    expect(git(ground.repo, "status", "--porcelain")).toBe("");
  },
);

test.each(["HEAD.lock", "refs/heads/main.lock"])(
  "a lock on what git moves last (%s) leaves files, index and branch as they were",
  async (lock) => {
    await using ground = await teamGround({ members: ["alice"] });
    ground.commit("alice", { "f.txt": "alice\n", "sub/a.txt": "a\n" });
    write(ground.repo, { "notes.txt": "mine\n", [`.git/${lock}`]: "" });
    const report = await ground.converge(mergeAll(ground, "alice"));
    expect(report).toMatchObject({ exitCode: 1, landProblem: expect.stringContaining("Nothing of yours was touched") });
    expect(git(ground.repo, "status", "--porcelain")).toBe("?? notes.txt");
    expect(read(ground.repo, "f.txt")).toBe("one\ntwo\nthree\n");
    rmSync(join(ground.repo, ".git", lock));
    expect((await ground.converge(mergeAll(ground, "alice"))).exitCode).toBe(0);
  },
);

test("a branch that the person is rebasing is not moved under the rebase", async () => {
  await using ground = await teamGround({ members: ["alice"] });
  ground.commit("alice", { "a.txt": "a\n" });
  const rebasing = await ground.converge(async (bash) => {
    await bash(mergeCommand(ground, "alice"));
    git(ground.repo, "-c", "sequence.editor=sed -i '1i break'", "rebase", "--quiet", "--interactive", "--root");
    return "";
  });
  expect(rebasing).toMatchObject({ exitCode: 1, landProblem: expect.stringContaining("main is being rebased in ") });
  git(ground.repo, "rebase", "--continue");
  expect((await ground.converge(mergeAll(ground, "alice"))).exitCode).toBe(0);
  expect(git(ground.repo, "status", "--porcelain")).toBe("");
});

test("hooks of the repository do not run at the landing", async () => {
  await using ground = await teamGround({ members: ["alice"] });
  ground.commit("alice", { "a.txt": "a\n" });
  const mark = join(ground.repo, "..", "hook-ran");
  const hook = join(ground.repo, ".git", "hooks", "post-merge");
  write(ground.repo, { ".git/hooks/post-merge": `#!/bin/sh\ntouch '${mark}'\n` });
  git(ground.repo, "update-index", "--refresh");
  const { chmodSync } = await import("node:fs");
  chmodSync(hook, 0o755);
  const report = await ground.converge(async (bash) => {
    await bash(mergeCommand(ground, "alice"));
    // A git of the integrator's own behaves as git does.
    rmSync(mark, { force: true });
    return "";
  });
  expect(report.exitCode).toBe(0);
  expect(existsSync(mark)).toBe(false);
});

test("files that can run by themselves are listed", async () => {
  const pack = (test: string) => `${JSON.stringify({ name: "x", scripts: { test } })}\n`;
  await using ground = await teamGround({ members: ["alice"], files: { "package.json": pack("a"), "lib/package.json": "{}\n" } });
  ground.commit("alice", {
    "package.json": pack("b"),
    "lib/package.json": '{"name":"y"}\n',
    ".github/workflows/x.yml": "x",
    "ROOCODE.md": "x",
    "src/a.ts": "",
  });
  const report = await ground.converge(mergeAll(ground, "alice"));
  expect(report.text).toContain(": .github/workflows/x.yml, ROOCODE.md, package.json (scripts).");
});
