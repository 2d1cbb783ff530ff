import { chmodSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { changesOf, filesOfMembers, mayShare, overlapLines, overlapsOf } from "../../src/team/foresight.ts";
import { OverlapNews } from "../../src/team/overlap-news.ts";
import { type Ground, git, teamGround, write } from "./converge/team-ground.ts";

/** As each member's process has it. */
async function newsOf(ground: Ground, name: string, sent: string[] = []): Promise<OverlapNews> {
  const bus = ground.busOf(name);
  const self = (await bus.roster.read()).members.find((member) => member.name === name);
  if (!self) throw new Error(`${name} is not there.`);
  const folder = join(dirname(ground.repo), "overlaps");
  return new OverlapNews({ bus, folder, self, onSent: (to, body) => sent.push(`${to}: ${body.type}`) });
}

async function mailOf(ground: Ground, name: string): Promise<string[]> {
  return (await ground.busOf(name).mailbox.unread()).map(({ from, body }) => `${from}: ${"text" in body ? body.text : body.type}`);
}

test("what each member changes counts from the tip that the user's branch shares with it: committed, edited, new, not ignored", async () => {
  await using ground = await teamGround({ members: ["alice", "bob"], files: { "f.txt": "1\n", "g.txt": "1\n", ".gitignore": "*.log\n" } });
  const alice = ground.worktreeOf("alice");
  ground.commit("alice", { "f.txt": "2\n" });
  write(alice, { "g.txt": "2\n", "sub/new é.txt": "n\n", "x.log": "l\n" });
  ground.commit("bob", { "f.txt": "3\n", "b.txt": "b\n" });
  const team = await ground.bus.roster.read();
  const files = await filesOfMembers(team);
  expect(files).toEqual([
    { name: "alice", files: ["f.txt", "g.txt", "sub/new é.txt"] },
    { name: "bob", files: ["b.txt", "f.txt"] },
  ]);
  expect(overlapsOf(files)).toEqual([{ file: "f.txt", members: ["alice", "bob"] }]);
  // What the user's branch has already is nobody's change any more.
  git(ground.repo, "merge", "--quiet", ground.branchOf("bob"));
  git(ground.worktreeOf("bob"), "merge", "--quiet", "main");
  expect(overlapsOf(await filesOfMembers(team))).toEqual([]);
  git(ground.repo, "worktree", "remove", "--force", alice);
  expect(await filesOfMembers(team)).toContainEqual({ name: "alice", files: [] });
});

test("overlaps read as a sentence for those who share files", () => {
  const both = Array.from({ length: 7 }, (_, index) => ({ file: `f${index}`, members: ["alice", "bob"] }));
  expect(overlapLines([...both, { file: "a", members: ["alice", "bob", "carol"] }])).toEqual([
    "alice and bob both change f0, f1, f2, f3, f4 and 2 more",
    "alice, bob and carol all change a",
  ]);
});

test("a file that two change is told once to both and to the lead, by whoever sees it first; a new one is told again", async () => {
  await using ground = await teamGround({ members: ["alice", "bob", "carol"] });
  const sent: string[] = [];
  const alice = await newsOf(ground, "alice", sent);
  const bob = await newsOf(ground, "bob", sent);
  ground.commit("alice", { "f.txt": "alice\n" });
  expect(await alice.look()).toBeUndefined();
  write(ground.worktreeOf("bob"), { "f.txt": "bob\n" });
  expect(await bob.look()).toMatch(/^The system sees that bob and alice both change f\.txt\.\n/);
  expect(await alice.look()).toBeUndefined();
  expect(await bob.look()).toBeUndefined();
  expect(sent).toEqual(["alice: status_update", "lead: status_update"]);
  expect(await mailOf(ground, "alice")).toEqual([expect.stringContaining("bob: The system sees that bob and alice both change f.txt.")]);
  expect(await mailOf(ground, "carol")).toEqual([]);
  // A member that was started again has told it, too.
  expect(await (await newsOf(ground, "alice")).look()).toBeUndefined();
  ground.commit("alice", { "g.txt": "alice\n" });
  write(ground.worktreeOf("bob"), { "g.txt": "bob\n" });
  expect(await alice.look()).toContain("alice and bob both change g.txt.");
  expect(sent).toHaveLength(4);
});

test("of two processes that see it at the same moment one tells it", async () => {
  await using ground = await teamGround({ members: ["alice", "bob"] });
  const sent: string[] = [];
  for (const name of ["alice", "bob"]) write(ground.worktreeOf(name), { "f.txt": `${name}\n` });
  const news = await Promise.all(["alice", "bob"].map(async (name) => (await newsOf(ground, name, sent)).look()));
  expect(news.filter((text) => text !== undefined)).toHaveLength(1);
  expect(sent.filter((one) => one.startsWith("lead"))).toHaveLength(1);
});

test("git is asked about those alone whose worktree has a changed file otherwise than before", async () => {
  const files = { "f.txt": "1\n", "g.txt": "1\n", "run.sh": "#!/bin/sh\n", "gone.txt": "1\n" };
  await using ground = await teamGround({ members: ["alice", "same", "edits", "adds", "deletes", "mode", "commits"], files });
  write(ground.worktreeOf("alice"), { "f.txt": "2\n", "run.sh": "#!/bin/bash\n", "gone.txt": "2\n", "new.txt": "n\n" });
  write(ground.worktreeOf("same"), { "g.txt": "2\n", "other.txt": "o\n" });
  write(ground.worktreeOf("edits"), { "f.txt": "3\n" });
  write(ground.worktreeOf("adds"), { "new.txt": "m\n" });
  rmSync(join(ground.worktreeOf("deletes"), "gone.txt"));
  chmodSync(join(ground.worktreeOf("mode"), "run.sh"), 0o755);
  ground.commit("commits", { "f.txt": "4\n" });
  const { members } = await ground.bus.roster.read();
  const [alice, ...others] = members;
  if (!alice) throw new Error("alice is not there.");
  const sharing = await mayShare(await changesOf(alice, "main"), others);
  expect(sharing.map(({ name }) => name)).toEqual(["edits", "adds", "deletes", "mode", "commits"]);
});
