import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { previewBranches, previewMerge } from "../../../src/team/converge/preview.ts";
import { type Ground, git, teamGround, write } from "./team-ground.ts";

const TEN = Array.from({ length: 10 }, (_, index) => `line ${index}\n`).join("");
const FILES = { "f.txt": TEN, "dir/a.txt": `a\n${TEN}`, "dir/b.txt": `b\n${TEN}`, "other.txt": "o\n", "gone/x.txt": "x\n" };

/** Each in a worktree of its own. */
const WORK: Record<string, (path: string) => void> = {
  top: (path) => write(path, { "f.txt": TEN.replace("line 0", "top") }),
  bottom: (path) => write(path, { "f.txt": TEN.replace("line 9", "bottom") }),
  alsoTop: (path) => write(path, { "f.txt": TEN.replace("line 0", "other") }),
  file: (path) => write(path, { place: "a file\n" }),
  folder: (path) => write(path, { "place/inside.txt": "a folder\n" }),
  renames: (path) => git(path, "mv", "dir", "moved"),
  renamesElsewhere: (path) => git(path, "mv", "dir", "elsewhere"),
  addsToFolder: (path) => write(path, { "dir/new.txt": "n\n" }),
  edits: (path) => write(path, { "dir/a.txt": `changed\n${TEN}` }),
  deletes: (path) => rmSync(join(path, "gone"), { recursive: true }),
  putsFileThere: (path) => {
    rmSync(join(path, "gone"), { recursive: true });
    write(path, { gone: "a file\n" });
  },
  apart: (path) => write(path, { "other.txt": "p\n", "quite/new.txt": "q\n" }),
};

async function branchesOf(ground: Ground): Promise<{ name: string; branch: string; tip: string }[]> {
  return Object.entries(WORK).map(([name, work]) => {
    work(ground.worktreeOf(name));
    return { name, branch: ground.branchOf(name), tip: ground.commit(name, {}) };
  });
}

/** What a dry run of each two says. */
async function allPairs(repo: string, branches: readonly { name: string; tip: string }[]): Promise<string[]> {
  const found: string[] = [];
  for (const [index, one] of branches.entries())
    for (const other of branches.slice(index + 1))
      if ((await previewMerge(repo, one.tip, other.tip)).conflicts.length > 0) found.push(`${one.name} ${other.name}`);
  return found;
}

test("pairs of which no dry run is made are those that can't conflict", async () => {
  await using ground = await teamGround({ members: Object.keys(WORK), files: FILES });
  const branches = await branchesOf(ground);
  const { pairs } = await previewBranches(ground.repo, git(ground.repo, "rev-parse", "main"), branches);
  const said = pairs.map(({ names }) => names.join(" "));
  expect(said).toEqual(await allPairs(ground.repo, branches));
  expect(said).toEqual(expect.arrayContaining(["top alsoTop", "file folder", "renames addsToFolder", "renames renamesElsewhere"]));
});

test("branches that left the user's branch at different commits are tried against each other, though they share no file", async () => {
  await using ground = await teamGround({ members: ["early", "late"], files: { "f.txt": TEN, "g.txt": "1\n" } });
  ground.commit("early", { "f.txt": TEN.replace("line 0", "early") });
  write(ground.repo, { "f.txt": TEN.replace("line 0", "user") });
  git(ground.repo, "commit", "--quiet", "--all", "--message=user");
  git(ground.worktreeOf("late"), "merge", "--quiet", "main");
  ground.commit("late", { "g.txt": "2\n" });
  const branches = ["early", "late"].map((name) => ({
    name,
    branch: ground.branchOf(name),
    tip: git(ground.worktreeOf(name), "rev-parse", "HEAD"),
  }));
  const preview = await previewBranches(ground.repo, git(ground.repo, "rev-parse", "main"), branches);
  expect(preview.pairs).toEqual([{ names: ["early", "late"], conflicts: ["f.txt"] }]);
  expect(preview.branches.map(({ name, commits, conflicts, changes }) => [name, commits.length, conflicts, [...changes.keys()]])).toEqual([
    ["early", 1, ["f.txt"], ["f.txt"]],
    ["late", 1, [], ["g.txt"]],
  ]);
});
