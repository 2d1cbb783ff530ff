import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commitAll, notCommittable } from "../../src/platform/commit.ts";
import { unsavedIn } from "../../src/team/rescue.ts";
import { git, teamGround, write } from "../team/converge/team-ground.ts";

test.each(["add", "commit"])("git %s is killed with its locks in place: what is dirty is committed all the same", async (command) => {
  await using ground = await teamGround({ members: ["alice"] });
  const worktree = ground.worktreeOf("alice");
  const bin = join(ground.repo, "..", "bin");
  mkdirSync(bin);
  const real = join(git(ground.repo, "--exec-path"), "git");
  const locks = ["index.lock", "HEAD.lock"].map((name) => git(worktree, "rev-parse", "--path-format=absolute", "--git-path", name));
  writeFileSync(
    join(bin, "git"),
    `#!/bin/sh
[ "$1" = ${command} ] && [ ! -f '${bin}/once' ] || exec '${real}' "$@"
: > '${bin}/once'
${locks.map((path) => `: > '${path}'`).join("\n")}
kill -9 $$
`,
  );
  chmodSync(join(bin, "git"), 0o755);
  write(worktree, { "f.txt": "alice's\n", "new.txt": "new\n" });
  const path = process.env.PATH;
  process.env.PATH = `${bin}:${path}`;
  try {
    expect(await commitAll(worktree, { subject: "work" })).toMatch(/^[0-9a-f]{40}$/);
  } finally {
    process.env.PATH = path;
  }
  expect(existsSync(join(bin, "once"))).toBe(true);
  expect(git(worktree, "status", "--porcelain")).toBe("");
  expect(git(worktree, "log", "-1", "--format=%s")).toBe("work");
});

test.each(["without a commit", "with a commit"])(
  "a repository of its own (%s) in a worktree is left, told, and stops no commit",
  async (kind) => {
    await using ground = await teamGround({ members: ["alice"] });
    const worktree = ground.worktreeOf("alice");
    write(worktree, { "f.txt": "alice's\n", "a/[sub]/x.txt": "x\n" });
    git(join(worktree, "a/[sub]"), "init", "--quiet");
    const inner = ["-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "--message=inner"];
    if (kind === "with a commit") git(join(worktree, "a/[sub]"), ...inner);
    expect(await commitAll(worktree, { subject: "work" })).toMatch(/^[0-9a-f]{40}$/);
    expect(git(worktree, "show", "--format=", "--name-only")).toBe("f.txt");
    expect(await notCommittable(worktree, ground.branchOf("alice"))).toContain("a/[sub]/ is a git repository of its own");
    if (kind === "without a commit") return;
    // Added by the member itself, it would be an id of a commit that nothing else has.
    git(worktree, "add", "a");
    git(worktree, "commit", "--quiet", "--message=link");
    // Nothing is dirty, and yet a task is not done by it.
    expect(git(worktree, "status", "--porcelain", "--ignore-submodules=dirty")).toBe("");
    await expect(commitAll(worktree, { subject: "work", mustTakeAll: true })).rejects.toThrow("a/[sub]/ is a git repository of its own");
    expect(await notCommittable(worktree, ground.branchOf("alice"))).toContain("a/[sub]/ is a git repository of its own");
    expect((await unsavedIn(worktree, ground.repo)).unsaved).toEqual(["a/[sub]/"]);
  },
);

test("a merge with conflicts is not committed with its markers", async () => {
  await using ground = await teamGround({ members: ["alice"] });
  const worktree = ground.worktreeOf("alice");
  ground.commit("alice", { "f.txt": "alice\n" });
  write(ground.repo, { "f.txt": "main\n" });
  git(ground.repo, "commit", "--quiet", "--all", "--message=main");
  expect(() => git(worktree, "merge", "main")).toThrow();
  expect(await commitAll(worktree, { subject: "work" })).toBe(undefined);
  expect(await notCommittable(worktree, ground.branchOf("alice"))).toContain("f.txt is in conflict");
  await expect(commitAll(worktree, { subject: "work", mustTakeAll: true })).rejects.toThrow("f.txt is in conflict");
  expect(git(worktree, "status", "--porcelain")).toBe("UU f.txt");
});

test("a node_modules that the repository keeps is committed like any folder; one that it does not keep is not", async () => {
  await using ground = await teamGround({ members: ["alice", "bob"], files: { "node_modules/x/i.js": "1\n" } });
  write(ground.worktreeOf("alice"), { "node_modules/x/i.js": "2\n", "node_modules/x/j.js": "3\n" });
  await commitAll(ground.worktreeOf("alice"), { subject: "work" });
  expect(git(ground.worktreeOf("alice"), "show", "--format=", "--name-only")).toBe("node_modules/x/i.js\nnode_modules/x/j.js");
  await using other = await teamGround({ members: ["alice"] });
  write(other.worktreeOf("alice"), { "node_modules/x/i.js": "2\n", "f.txt": "x" });
  await commitAll(other.worktreeOf("alice"), { subject: "work" });
  expect(git(other.worktreeOf("alice"), "show", "--format=", "--name-only")).toBe("f.txt");
});

test("what was written beside a sparse checkout is committed too", async () => {
  await using ground = await teamGround({ members: [], files: { "in/a.txt": "1\n", "out/b.txt": "1\n" } });
  git(ground.repo, "sparse-checkout", "set", "--cone", "in");
  write(ground.repo, { "out/c.txt": "1\n" });
  await commitAll(ground.repo, { subject: "work" });
  expect(git(ground.repo, "show", "--format=", "--name-only")).toBe("out/c.txt");
});

test("a member whose HEAD is elsewhere than on its branch gets no commit there", async () => {
  await using ground = await teamGround({ members: ["alice"] });
  const [worktree, branch] = [ground.worktreeOf("alice"), ground.branchOf("alice")];
  const main = git(ground.repo, "rev-parse", "main");
  write(worktree, { "a.txt": "a\n" });
  git(worktree, "symbolic-ref", "HEAD", "refs/heads/main");
  expect(await commitAll(worktree, { subject: "work", branch })).toBe(undefined);
  const told = `the worktree is on main, and only what is on ${branch} is merged`;
  expect(await notCommittable(worktree, branch)).toContain(told);
  await expect(commitAll(worktree, { subject: "work", branch, mustTakeAll: true })).rejects.toThrow(told);
  expect(git(ground.repo, "rev-parse", "main")).toBe(main);
  git(worktree, "symbolic-ref", "HEAD", `refs/heads/${branch}`);
  expect(await commitAll(worktree, { subject: "work", branch })).toMatch(/^[0-9a-f]{40}$/);
});

test("a lock that a member's own git left, and half an identity, stop no commit", async () => {
  await using ground = await teamGround({ members: ["alice"] });
  const worktree = ground.worktreeOf("alice");
  git(ground.repo, "config", "user.name", "");
  write(worktree, { "a.txt": "a\n" });
  writeFileSync(git(worktree, "rev-parse", "--path-format=absolute", "--git-path", "index.lock"), "");
  expect(await commitAll(worktree, { subject: "# work" })).toMatch(/^[0-9a-f]{40}$/);
  expect(git(worktree, "log", "-1", "--format=%an %s")).toBe("roocode # work");
});
