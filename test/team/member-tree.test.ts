import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { TeammateInfo } from "../../src/protocol/team.ts";
import { type MemberGround, makeMemberTree, memberTree, restoreMember } from "../../src/team/member-tree.ts";
import { equipWorktree } from "../../src/team/worktree-needs.ts";
import { sampleMember } from "./bus/sample-team.ts";
import { type Ground, git, read, teamGround, write } from "./converge/team-ground.ts";

const never = new AbortController().signal;
const BRANCH = "worktree-team-auth+alice";

/** As a spawn does it: a free name, the roster, then the worktree. */
async function spawnTree(ground: Ground, name = "alice"): Promise<TeammateInfo> {
  const at = member(ground);
  const { path, branch } = await memberTree(name, "auth", at);
  const info = { ...sampleMember(name), worktreePath: path, branch, baseCommit: git(ground.repo, "rev-parse", "HEAD") };
  await ground.bus.roster.update((team) => ({ ...team, members: [...team.members, info] }));
  await makeMemberTree(info, at, never);
  return (await ground.bus.roster.read()).members.find((one) => one.name === name) ?? info;
}

function member({ bus, repo, worktrees, lock, needs, notes }: Ground): MemberGround {
  return { bus, primary: repo, worktrees, worktreeLock: lock, needs, onNote: (text) => notes.push(text) };
}

async function names(ground: Ground): Promise<string[]> {
  return (await ground.bus.roster.read()).members.map(({ name }) => name);
}

const branches = ({ repo }: Ground) => git(repo, "branch", "--format=%(refname:short)").split("\n");
const worktrees = ({ repo }: Ground) => git(repo, "worktree", "list", "--porcelain").match(/^worktree .*/gm)?.length;

test("the setup command runs in the fresh worktree with its ports, before anyone works there", async () => {
  const setup = 'echo "$ROOCODE_PORT $ROOCODE_PORT_COUNT $ROOCODE_PRIMARY $PWD $ROOCODE_WORKTREE" > said.txt';
  await using ground = await teamGround({ members: [], commands: { setup } });
  const alice = await spawnTree(ground);
  const bob = await spawnTree(ground, "bob");
  expect([alice.ports, bob.ports]).toEqual([
    { first: 20_000, size: 10 },
    { first: 20_010, size: 10 },
  ]);
  const { worktreePath: path } = alice;
  expect(read(path, "said.txt")).toBe(`20000 10 ${ground.repo} ${path} ${path}\n`);
});

test("a setup command that fails takes worktree, branch, ports and member away, and says how it ended", async () => {
  await using ground = await teamGround({
    members: [],
    commands: { setup: "seq 1 100; echo no database >&2; exit 3", teardown: 'echo "$ROOCODE_PORT" > "$ROOCODE_PRIMARY/torn"' },
  });
  const error = await spawnTree(ground).catch((cause: Error) => cause);
  expect(String(error)).toMatch(/alice could not get a worktree: its setup command \(.*\) failed:\n[\s\S]*no database\n\[exit code 3\]/);
  expect(String(error)).not.toContain("\n50\n");
  expect(await names(ground)).toEqual([]);
  expect([branches(ground), worktrees(ground), existsSync(ground.worktreeOf("alice"))]).toEqual([["main"], 1, false]);
  // What the setup had made outside of the worktree is taken down too.
  expect(read(ground.repo, "torn")).toBe("20000\n");
});

test("a setup command that does not end is stopped, with all that it started", async () => {
  await using ground = await teamGround({ members: [], commands: { setup: "sleep 61 & echo begun; wait" } });
  ground.needs.setupTimeoutMs = 300;
  await expect(spawnTree(ground)).rejects.toThrow(/begun\n\[stopped after 300 ms\]/);
  expect(await names(ground)).toEqual([]);
});

test("W02: where no worktree can be made there is no member, and the main checkout is as it was", async () => {
  await using ground = await teamGround({ members: [] });
  // Also for root, whom permissions do not stop.
  mkdirSync(dirname(ground.worktrees), { recursive: true });
  writeFileSync(ground.worktrees, "in the way");
  const before = git(ground.repo, "status", "--porcelain=v2", "--branch");
  await expect(spawnTree(ground)).rejects.toThrow(/alice could not get a worktree: /);
  expect(await names(ground)).toEqual([]);
  expect([branches(ground), worktrees(ground)]).toEqual([["main"], 1]);
  expect(git(ground.repo, "status", "--porcelain=v2", "--branch")).toBe(before);
});

test("W07: a branch that is there with a commit stays as it is; the member gets another one, and that is said", async () => {
  await using ground = await teamGround({ members: [] });
  git(ground.repo, "switch", "--quiet", "--create", BRANCH);
  git(ground.repo, "commit", "--quiet", "--allow-empty", "--message=of somebody else");
  const foreign = git(ground.repo, "rev-parse", BRANCH);
  git(ground.repo, "switch", "--quiet", "main");
  const alice = await spawnTree(ground);
  expect(alice.branch).toBe(`${BRANCH}-2`);
  expect(ground.notes.join()).toContain(`alice works on ${BRANCH}-2, since ${BRANCH}`);
  expect(git(ground.repo, "rev-parse", BRANCH)).toBe(foreign);
  expect(git(alice.worktreePath, "rev-parse", "HEAD")).toBe(git(ground.repo, "rev-parse", "main"));
});

test("W07: a branch that is checked out elsewhere is left there, and so is one below that name", async () => {
  await using ground = await teamGround({ members: [] });
  const elsewhere = join(dirname(ground.repo), "elsewhere");
  git(ground.repo, "worktree", "add", "--quiet", "-b", BRANCH, elsewhere, "main");
  git(ground.repo, "branch", `${BRANCH}-2/x`, "main");
  expect((await spawnTree(ground)).branch).toBe(`${BRANCH}-3`);
  expect(git(elsewhere, "symbolic-ref", "--short", "HEAD")).toBe(BRANCH);
});

test("W07: a folder that was deleted by hand and is registered still is no hindrance", async () => {
  await using ground = await teamGround({ members: [] });
  git(ground.repo, "worktree", "add", "--quiet", "--detach", ground.worktreeOf("alice"), "main");
  rmSync(ground.worktreeOf("alice"), { recursive: true });
  const alice = await spawnTree(ground);
  expect(alice).toMatchObject({ branch: BRANCH, worktreePath: ground.worktreeOf("alice") });
  expect(worktrees(ground)).toBe(2);
});

test("W07: a folder of somebody else's at that place is not touched, even when no worktree can be made in the end", async () => {
  await using ground = await teamGround({ members: [] });
  write(ground.worktreeOf("alice"), { "theirs.txt": "keep\n" });
  const alice = await spawnTree(ground);
  expect(alice.worktreePath).toBe(`${ground.worktreeOf("alice")}-2`);
  const info = { ...sampleMember("carol"), worktreePath: ground.worktreeOf("alice"), branch: "b", baseCommit: alice.baseCommit };
  await expect(makeMemberTree(info, member(ground), never)).rejects.toThrow("could not get a worktree");
  expect(read(ground.worktreeOf("alice"), "theirs.txt")).toBe("keep\n");
});

test("W07: the same member's tree is made again from its branch, with setup and ports; a failing setup loses nothing", async () => {
  await using ground = await teamGround({ members: [], commands: { setup: "touch ready" } });
  const alice = await spawnTree(ground);
  write(alice.worktreePath, { "a.txt": "work\n" });
  git(alice.worktreePath, "add", "a.txt");
  git(alice.worktreePath, "commit", "--quiet", "--message=work");
  const tip = git(ground.repo, "rev-parse", BRANCH);
  rmSync(alice.worktreePath, { recursive: true });
  ground.needs.setup = "exit 4";
  await expect(restoreMember(alice, member(ground), never)).rejects.toThrow(/made again from .*alice: its setup command[\s\S]*exit code 4/);
  expect([existsSync(alice.worktreePath), git(ground.repo, "rev-parse", BRANCH), await names(ground)]).toEqual([false, tip, ["alice"]]);
  ground.needs.setup = "touch ready";
  await restoreMember(alice, member(ground), never);
  expect([read(alice.worktreePath, "a.txt"), existsSync(join(alice.worktreePath, "ready"))]).toEqual(["work\n", true]);
});

test("commits beside the branch in a worktree that was deleted are kept before it is made again", async () => {
  await using ground = await teamGround({ members: [] });
  const alice = await spawnTree(ground);
  git(alice.worktreePath, "switch", "--quiet", "--detach");
  git(alice.worktreePath, "commit", "--quiet", "--allow-empty", "--message=beside");
  const head = git(alice.worktreePath, "rev-parse", "HEAD");
  rmSync(alice.worktreePath, { recursive: true });
  await restoreMember(alice, member(ground), never);
  const { name: team } = await ground.bus.roster.read();
  expect(git(ground.repo, "rev-parse", `refs/roocode/rescue/${team}/alice`)).toBe(head);
  expect(ground.notes.join()).toContain(`alice: its worktree was at ${head.slice(0, 10)}, which is not on ${BRANCH}.`);
  expect(git(alice.worktreePath, "symbolic-ref", "--short", "HEAD")).toBe(BRANCH);
});

test("W07: the member's branch, checked out elsewhere meanwhile, is named and nothing is changed", async () => {
  await using ground = await teamGround({ members: [] });
  const alice = await spawnTree(ground);
  rmSync(alice.worktreePath, { recursive: true });
  git(ground.repo, "worktree", "prune");
  git(ground.repo, "switch", "--quiet", BRANCH);
  await expect(restoreMember(alice, member(ground), never)).rejects.toThrow(ground.repo);
  expect([existsSync(alice.worktreePath), await names(ground)]).toEqual([false, ["alice"]]);
});

test("a worktree hook that fails takes the fresh worktree away again", async () => {
  await using ground = await teamGround({ members: [] });
  const at: MemberGround = { ...member(ground), onWorktree: () => Promise.reject(new Error("a hook")) };
  const info = { ...sampleMember("alice"), worktreePath: ground.worktreeOf("alice"), baseCommit: git(ground.repo, "rev-parse", "HEAD") };
  await ground.bus.roster.update((team) => ({ ...team, members: [info] }));
  await expect(makeMemberTree(info, at, never)).rejects.toThrow("a hook");
  expect([await names(ground), branches(ground), worktrees(ground)]).toEqual([[], ["main"], 1]);
});

test("W10: named ignored files are copied once and never over what is there; without the list a .env gets one line of a hint", async () => {
  await using ground = await teamGround({ members: [], files: { "f.txt": "1\n", ".gitignore": ".env*\n" } });
  write(ground.repo, { ".env": "KEY=1\n", "pkg/a/.env.local": "KEY=2\n" });
  await spawnTree(ground);
  expect(ground.notes.filter((note) => note.includes("worktree-include"))).toHaveLength(1);
  write(ground.repo, { ".roocode/worktree-include": ".env\n**/.env.local\n" });
  const bob = await spawnTree(ground, "bob");
  expect([read(bob.worktreePath, ".env"), read(bob.worktreePath, "pkg/a/.env.local")]).toEqual(["KEY=1\n", "KEY=2\n"]);
  expect(ground.notes.filter((note) => note.includes("worktree-include"))).toHaveLength(1);
  write(bob.worktreePath, { ".env": "KEY=own\n" });
  await equipWorktree({ primary: ground.repo, path: bob.worktreePath, needs: ground.needs }, never);
  expect(read(bob.worktreePath, ".env")).toBe("KEY=own\n");
  expect(git(bob.worktreePath, "status", "--porcelain")).toBe("");
});
