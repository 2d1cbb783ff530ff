import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { beginLanding } from "../../../src/team/converge/cut-landing.ts";
import { type Landing, land } from "../../../src/team/converge/land.ts";
import { tempFolder } from "../../support/temp.ts";
import { git, read, write } from "./team-ground.ts";

const BEFORE = { "f.txt": "one\n", "gone.txt": "here\n", "other.txt": "mine\n", "x/a.txt": "a\n" };
const AFTER = { "f.txt": "one, and much more than that\n", "deep/new.txt": "new\n", "x/a.txt": "a changed\n" };

/** A repository on main, and a commit ahead of it that was not landed. */
async function ground(files: Record<string, string> = AFTER) {
  const temp = await tempFolder();
  const repo = join(temp.path, "repo");
  mkdirSync(repo);
  git(repo, "init", "--quiet", "--initial-branch=main");
  git(repo, "config", "user.name", "Ada");
  git(repo, "config", "user.email", "ada@example.org");
  write(repo, BEFORE);
  git(repo, "add", "--all");
  git(repo, "commit", "--quiet", "--message=first");
  const from = git(repo, "rev-parse", "HEAD");
  git(repo, "switch", "--quiet", "--detach");
  write(repo, files);
  rmSync(join(repo, "gone.txt"));
  git(repo, "add", "--all");
  git(repo, "commit", "--quiet", "--message=second");
  const to = git(repo, "rev-parse", "HEAD");
  git(repo, "switch", "--quiet", "main");
  const request = {
    primary: repo,
    checkout: repo,
    branch: "main",
    from,
    to,
    changedBy: async () => "alice",
    signal: new AbortController().signal,
  };
  return { repo, from, to, land: (): Promise<Landing> => land(request), [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose]() };
}

function expectLanded({ repo, to }: { repo: string; to: string }, files: Record<string, string> = AFTER): void {
  expect(git(repo, "rev-parse", "main")).toBe(to);
  for (const [path, content] of Object.entries(files)) expect(read(repo, path)).toBe(content);
  expect(existsSync(join(repo, "gone.txt"))).toBe(false);
  expect(git(repo, "for-each-ref", "--format=%(refname)", "refs/worktree")).toBe("");
  expect(existsSync(join(repo, ".git", "index.lock"))).toBe(false);
}

const ALL_WRITTEN = (repo: string) => {
  write(repo, AFTER);
  rmSync(join(repo, "gone.txt"));
};
test.each<[string, (repo: string, to: string) => void]>([
  ["nothing was written yet, its lock is there", (repo) => write(repo, { ".git/index.lock": "" })],
  ["some files were written, one of them in part", (repo) => write(repo, { "deep/new.txt": "new\n", "f.txt": "one, and mu" })],
  [
    "a new file is there without its content, an old one is away",
    (repo) => {
      write(repo, { "deep/new.txt": "" });
      rmSync(join(repo, "f.txt"));
    },
  ],
  ["all files were written, the index was not", ALL_WRITTEN],
  [
    "all was written but the branch, whose lock is there",
    (repo, to) => {
      git(repo, "read-tree", to);
      git(repo, "checkout-index", "--all", "--force");
      ALL_WRITTEN(repo);
      write(repo, { ".git/refs/heads/main.lock": "" });
    },
  ],
])("a landing that was killed when %s is done again whole", async (_when, leave) => {
  await using it = await ground();
  await beginLanding(it.repo, it.to);
  leave(it.repo, it.to);
  expect(await it.land()).toMatchObject({ type: "landed" });
  expectLanded(it);
  expect(git(it.repo, "status", "--porcelain")).toBe("");
});

test("what the person did after a landing was killed stays, and stands in the way by name; the rest is as before it", async () => {
  await using it = await ground();
  await beginLanding(it.repo, it.to);
  write(it.repo, { ...AFTER, "f.txt": "my own words\n", "other.txt": "mine, too\n" });
  const landing = await it.land();
  expect(landing).toMatchObject({ type: "blocked", reason: expect.stringContaining("f.txt has changes of yours") });
  expect(git(it.repo, "rev-parse", "main")).toBe(it.from);
  expect(git(it.repo, "status", "--porcelain")).toBe("M f.txt\n M other.txt");
  expect([read(it.repo, "f.txt"), read(it.repo, "other.txt")]).toEqual(["my own words\n", "mine, too\n"]);
});

test("without a landing under way, a file that happens to be the same as the new one is the person's", async () => {
  await using it = await ground();
  write(it.repo, { "f.txt": AFTER["f.txt"] });
  expect(await it.land()).toMatchObject({ type: "blocked" });
  expect(read(it.repo, "f.txt")).toBe(AFTER["f.txt"]);
});

test("git is killed in the middle of a landing: what it had done is taken back, and it is done again", async () => {
  const many = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`many/${index}.txt`, `file ${index}\n`.repeat(50)]));
  await using it = await ground({ ...AFTER, ...many });
  const bin = join(it.repo, "..", "bin");
  mkdirSync(bin);
  const real = git(it.repo, "--exec-path");
  // The first merge dies as soon as a file of it is there.
  writeFileSync(
    join(bin, "git"),
    `#!/bin/sh
case "$1" in merge) ;; *) exec '${real}/git' "$@" ;; esac
[ -f '${bin}/once' ] && exec '${real}/git' "$@"
: > '${bin}/once'
'${real}/git' "$@" & pid=$!
until [ -d many ]; do :; done
kill -9 $pid
[ -f many/399.txt ] || : > '${bin}/was-torn'
kill -9 $$
`,
  );
  chmodSync(join(bin, "git"), 0o755);
  const path = process.env.PATH;
  process.env.PATH = `${bin}:${path}`;
  try {
    expect(await it.land()).toMatchObject({ type: "landed" });
  } finally {
    process.env.PATH = path;
  }
  expect(existsSync(join(bin, "once"))).toBe(true);
  expectLanded(it, { ...AFTER, ...many });
  expect(git(it.repo, "status", "--porcelain")).toBe("");
});
