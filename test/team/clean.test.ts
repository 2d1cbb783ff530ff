import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { selfIdentity } from "../../src/platform/process.ts";
import { addWorktree } from "../../src/platform/worktree.ts";
import { type Cleaned, cleanTeam } from "../../src/team/clean.ts";
import { pruneRescued } from "../../src/team/rescue.ts";
import { type Ground, git, mergeAll, read, teamGround, write } from "./converge/team-ground.ts";

const RESCUED = "refs/roocode/rescue/auth/alice";

function clean({ bus, repo, worktrees, lock, needs }: Ground, force = false): Promise<Cleaned> {
  return cleanTeam({ bus, primary: repo, checkout: repo, worktrees, worktreeLock: lock, needs, force });
}

function has(ground: Ground, ref: string): boolean {
  return git(ground.repo, "for-each-ref", ref) !== "";
}

test("after a clean end nothing is left but commits and a rescue ref for each branch", async () => {
  await using ground = await teamGround({ members: ["alice", "bob"] });
  mkdirSync(join(ground.repo, "node_modules"));
  symlinkSync(join(ground.repo, "node_modules"), join(ground.worktreeOf("alice"), "node_modules"));
  const tip = ground.commit("bob", { "b.txt": "b\n" });
  await ground.converge(mergeAll(ground, "bob"));
  expect(await clean(ground)).toMatchObject({ removed: ["alice", "bob"], kept: [] });
  expect(git(ground.repo, "branch", "--format=%(refname:short)")).toBe("main");
  expect(git(ground.repo, "worktree", "list").split("\n")).toHaveLength(1);
  expect(existsSync(ground.worktrees)).toBe(false);
  expect(git(ground.repo, "rev-parse", "refs/roocode/rescue/auth/bob")).toBe(tip);
  expect(read(ground.repo, ".git/info/exclude")).not.toContain("roocode");
});

test("a member that runs is named and nothing is touched", async () => {
  await using ground = await teamGround({ members: ["alice"] });
  await ground.bus.roster.update((team) => ({ ...team, members: team.members.map((member) => ({ ...member, process: selfIdentity() })) }));
  await expect(clean(ground)).rejects.toThrow("alice is still running. Stop first: roocode team stop auth");
  await expect(clean(ground, true)).rejects.toThrow("alice");
  expect(existsSync(ground.worktreeOf("alice"))).toBe(true);
});

test("W08: commits that are not merged stay on their branch, and by force in a rescue ref", async () => {
  await using ground = await teamGround({ members: ["alice"] });
  const tip = ground.commit("alice", { "a.txt": "a\n" });
  const kept = await clean(ground);
  expect(kept).toMatchObject({ removed: [], kept: ["alice"] });
  expect(kept.text).toContain(`git log main..${ground.branchOf("alice")}`);
  expect(git(ground.repo, "rev-parse", ground.branchOf("alice"))).toBe(tip);
  expect(existsSync(ground.worktreeOf("alice"))).toBe(true);

  const forced = await clean(ground, true);
  expect(forced).toMatchObject({ removed: ["alice"], kept: [] });
  expect(forced.text).toContain(`git log ${RESCUED}`);
  expect(forced.text).toContain(`git update-ref -d ${RESCUED}`);
  expect(git(ground.repo, "rev-parse", RESCUED)).toBe(tip);
  expect(has(ground, `refs/heads/${ground.branchOf("alice")}`)).toBe(false);
});

test.each([
  ["a dirty tracked file", (at: string) => write(at, { "f.txt": "dirty\n" }), "f.txt", "dirty"],
  ["an untracked file", (at: string) => write(at, { "new/n.txt": "new\n" }), "new/n.txt", "new"],
  ["an ignored file of the member's own", (at: string) => write(at, { "local.db": "rows\n" }), "local.db", "rows"],
  [
    "a staged file",
    (at: string) => {
      write(at, { "s.txt": "staged\n" });
      git(at, "add", "s.txt");
    },
    "s.txt",
    "staged",
  ],
])("W09: %s keeps the worktree, and is in the rescue ref; by force the ref alone has it", async (_what, leave, path, content) => {
  await using ground = await teamGround({ members: ["alice"], files: { "f.txt": "one\n", ".gitignore": "*.db\n" } });
  leave(ground.worktreeOf("alice"));
  const before = git(ground.worktreeOf("alice"), "status", "--porcelain", "--ignored");
  const kept = await clean(ground);
  expect(kept.kept).toEqual(["alice"]);
  expect(kept.text).toContain(path);
  expect(git(ground.worktreeOf("alice"), "status", "--porcelain", "--ignored")).toBe(before);
  expect(git(ground.repo, "show", `${RESCUED}:${path}`)).toBe(content);

  expect((await clean(ground, true)).removed).toEqual(["alice"]);
  expect(existsSync(ground.worktreeOf("alice"))).toBe(false);
  const refs = git(ground.repo, "for-each-ref", "--format=%(refname)", "refs/roocode").split("\n");
  expect(refs.some((ref) => git(ground.repo, "ls-tree", "-r", "--name-only", ref).split("\n").includes(path))).toBe(true);
});

test("W09: what was staged and then changed again is rescued in both states", async () => {
  await using ground = await teamGround({ members: ["alice"] });
  const at = ground.worktreeOf("alice");
  write(at, { "f.txt": "staged\n" });
  git(at, "add", "f.txt");
  write(at, { "f.txt": "later\n" });
  await clean(ground);
  expect(git(ground.repo, "show", `${RESCUED}:f.txt`)).toBe("later");
  expect(git(ground.repo, "show", `${RESCUED}^2:f.txt`)).toBe("staged");
});

test("what the system put into a worktree, and caches, hold nothing up; an included file that was changed does", async () => {
  await using ground = await teamGround({
    members: ["alice"],
    files: { ".gitignore": ".env\n.roocode/\n__pycache__/\n", "f.txt": "one\n" },
  });
  write(ground.repo, { ".env": "A=1\n" });
  write(ground.worktreeOf("alice"), { ".env": "A=1\n", "pkg/__pycache__/x.pyc": "x" });
  write(ground.worktreeOf("alice"), { ".env": "A=2\n" });
  expect((await clean(ground)).text).toContain("what is in no commit (.env)");
  write(ground.worktreeOf("alice"), { ".env": "A=1\n" });
  expect((await clean(ground)).removed).toEqual(["alice"]);
});

test("W14: a folder that was deleted by hand is no error, twice; unmerged commits keep their branch", async () => {
  await using ground = await teamGround({ members: ["alice", "bob"] });
  const tip = ground.commit("bob", { "b.txt": "b\n" });
  for (const name of ["alice", "bob"]) rmSync(ground.worktreeOf(name), { recursive: true });
  expect(await clean(ground)).toMatchObject({ removed: ["alice"], kept: ["bob"] });
  expect(await clean(ground)).toMatchObject({ removed: ["alice"], kept: ["bob"] });
  expect(git(ground.repo, "rev-parse", ground.branchOf("bob"))).toBe(tip);
  expect(await clean(ground, true)).toMatchObject({ removed: ["alice", "bob"], kept: [] });
  expect(git(ground.repo, "worktree", "list").split("\n")).toHaveLength(1);
});

test("a branch that the user has checked out stays", async () => {
  await using ground = await teamGround({ members: ["alice"] });
  rmSync(ground.worktreeOf("alice"), { recursive: true });
  git(ground.repo, "worktree", "prune");
  git(ground.repo, "switch", "--quiet", ground.branchOf("alice"));
  const cleaned = await clean(ground, true);
  expect(cleaned).toMatchObject({ removed: [], kept: ["alice"] });
  expect(cleaned.text).toContain("is checked out in");
});

test("merges that did not reach the user's branch are rescued when the integration worktree goes", async () => {
  await using ground = await teamGround({ members: ["alice"] });
  ground.commit("alice", { "a.txt": "a\n" });
  write(ground.repo, { "a.txt": "mine\n" });
  const report = await ground.converge(mergeAll(ground, "alice"));
  expect((await clean(ground)).kept).toEqual(["alice"]);
  expect(existsSync(ground.integration)).toBe(true);
  const forced = await clean(ground, true);
  expect(existsSync(ground.integration)).toBe(false);
  expect(forced.text).toContain("refs/roocode/rescue/auth/+integration");
  expect(git(ground.repo, "rev-parse", "refs/roocode/rescue/auth/+integration")).toBe(report.merged[0]?.commit);
});

test("a team of the same name later takes no rescue ref of the first away", async () => {
  await using ground = await teamGround({ members: ["alice"] });
  const first = ground.commit("alice", { "a.txt": "a\n" });
  await clean(ground, true);
  const { repo, lock } = ground;
  await addWorktree({
    primary: repo,
    path: ground.worktreeOf("alice"),
    branch: ground.branchOf("alice"),
    commit: git(repo, "rev-parse", "main"),
    lockPath: lock,
  });
  const second = ground.commit("alice", { "b.txt": "b\n" });
  await clean(ground, true);
  expect([git(repo, "rev-parse", RESCUED), git(repo, "rev-parse", `${RESCUED}-2`)]).toEqual([first, second]);
});

test("rescue refs live for 30 days from the day they were made, however old their commits are", async () => {
  await using ground = await teamGround({ members: ["alice"] });
  process.env.GIT_COMMITTER_DATE = "2001-01-01T00:00:00Z";
  try {
    ground.commit("alice", { "a.txt": "a\n" });
  } finally {
    delete process.env.GIT_COMMITTER_DATE;
  }
  await clean(ground, true);
  const day = 24 * 60 * 60 * 1000;
  await pruneRescued(ground.repo, Date.now() + 29 * day);
  expect(has(ground, RESCUED)).toBe(true);
  await pruneRescued(ground.repo, Date.now() + 31 * day);
  expect(has(ground, RESCUED)).toBe(false);
});

test("W09: a staged deletion is rescued too, and looking twice makes no second copy", async () => {
  await using ground = await teamGround({ members: ["alice"], files: { "f.txt": "one\n", "g.txt": "one\n" } });
  git(ground.worktreeOf("alice"), "rm", "--quiet", "f.txt");
  rmSync(join(ground.worktreeOf("alice"), "g.txt"));
  expect((await clean(ground)).kept).toEqual(["alice"]);
  expect((await clean(ground)).kept).toEqual(["alice"]);
  expect(git(ground.repo, "ls-tree", "--name-only", RESCUED)).toBe("");
  expect(git(ground.repo, "for-each-ref", "--format=%(refname)", "refs/roocode")).toBe(RESCUED);
});

test("W08: commits on a detached HEAD keep the worktree", async () => {
  await using ground = await teamGround({ members: ["alice"] });
  git(ground.worktreeOf("alice"), "switch", "--quiet", "--detach");
  const lost = ground.commit("alice", { "a.txt": "a\n" });
  expect((await clean(ground)).kept).toEqual(["alice"]);
  await clean(ground, true);
  expect(git(ground.repo, "rev-parse", RESCUED)).toBe(lost);
});

test("W08: so do commits on a detached HEAD of a worktree that was deleted by hand", async () => {
  await using ground = await teamGround({ members: ["alice"] });
  git(ground.worktreeOf("alice"), "switch", "--quiet", "--detach");
  const lost = ground.commit("alice", { "a.txt": "a\n" });
  rmSync(ground.worktreeOf("alice"), { recursive: true });
  expect((await clean(ground)).kept).toEqual(["alice"]);
  await clean(ground, true);
  expect(git(ground.repo, "rev-parse", RESCUED)).toBe(lost);
});

test.runIf(process.platform === "linux")("files with names that are no UTF-8 are rescued, tracked or not, ignored too", async () => {
  await using ground = await teamGround({ members: ["alice"], files: { ".gitignore": "*.log\n" } });
  const worktree = ground.worktreeOf("alice");
  const bytes = (name: string) => Buffer.from(`${worktree}/${name}`, "latin1");
  for (const name of ["new\xff", "[a]\xff\xfe*.log", "kept\xfd"]) writeFileSync(bytes(name), name);
  git(worktree, "add", "kept*");
  git(worktree, "commit", "--quiet", "--message=work");
  rmSync(bytes("kept\xfd"));
  await clean(ground, true);
  expect(git(ground.repo, "-c", "core.quotePath=true", "ls-tree", "-r", "--name-only", RESCUED)).toBe(
    '.gitignore\n"[a]\\377\\376*.log"\n"new\\377"',
  );
});

test("a repository inside a worktree is left where it is, by force too", async () => {
  await using ground = await teamGround({ members: ["alice"] });
  const inner = join(ground.worktreeOf("alice"), "inner");
  git(ground.worktreeOf("alice"), "init", "--quiet", inner);
  write(inner, { "x.txt": "x\n" });
  git(inner, "add", "x.txt");
  git(inner, "-c", "user.name=x", "-c", "user.email=x", "commit", "--quiet", "--message=x");
  expect((await clean(ground, true)).kept).toEqual(["alice"]);
  expect(read(inner, "x.txt")).toBe("x\n");
});

test("the teardown command runs with the worktree's ports before it is removed, and its failure holds nothing up", async () => {
  const teardown = 'echo "$ROOCODE_PORT in $PWD" >> "$ROOCODE_PRIMARY/../torn"; echo no server >&2; exit 5';
  await using ground = await teamGround({ members: ["alice", "bob"], commands: { teardown } });
  ground.commit("bob", { "b.txt": "b\n" });
  const cleaned = await clean(ground);
  expect(cleaned).toMatchObject({ removed: ["alice"], kept: ["bob"] });
  expect(cleaned.text).toMatch(/The teardown command \(.*\) failed in .*alice:\nno server\n\[exit code 5\]/);
  expect(existsSync(ground.worktreeOf("alice"))).toBe(false);
  // A worktree that stays is not torn down.
  expect(read(dirname(ground.repo), "torn")).toBe(`20000 in ${ground.worktreeOf("alice")}\n`);
});

/** A teardown command is the last that runs before a branch goes. */
test.each([
  ["a commit that came meanwhile keeps its branch", "git commit --quiet --allow-empty -m late", "was moved meanwhile"],
  [
    "a merge that was taken back meanwhile keeps its branch",
    'git -C "$ROOCODE_PRIMARY" update-ref refs/heads/main main~1',
    "is not in main any more",
  ],
])("%s", async (_what, command, reason) => {
  await using ground = await teamGround({ members: ["alice", "bob"], commands: { teardown: `case "$PWD" in */alice) ${command};; esac` } });
  const [alice, bob] = [ground.branchOf("alice"), ground.branchOf("bob")];
  ground.commit("alice", { "a.txt": "a\n" });
  git(ground.repo, "merge", "--quiet", "--no-ff", "--no-edit", alice);
  expect(await clean(ground)).toEqual({
    removed: ["bob"],
    kept: ["alice"],
    text: `alice: kept, since ${alice} ${reason}. Work on in: ${alice}.\nbob: removed. For 30 days: git log refs/roocode/rescue/auth/bob; bring it back: git branch NAME refs/roocode/rescue/auth/bob; drop it: git update-ref -d refs/roocode/rescue/auth/bob`,
  });
  expect(has(ground, `refs/heads/${alice}`)).toBe(true);
  expect(has(ground, `refs/heads/${bob}`)).toBe(false);
});
